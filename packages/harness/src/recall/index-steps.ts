/**
 * What is to be done next for an index, decided from how far it has come: nothing here reads or writes. The tables keep the
 * position with what was indexed, so whoever looks next, in whatever process, goes on where the last one stopped.
 */
import type { Placement } from "@palimpsest/core/recall";
import type { JobStatus } from "../stores/outbox.ts";
import type { BlockMerging, IndexedSegment, SearchTables } from "../stores/search-tables.ts";

/** `at`: which of the segments. */
export type IndexStep =
  | { readonly kind: "fill"; readonly at: number }
  | { readonly kind: "merge"; readonly threadId: string }
  | { readonly kind: "done" };

/**
 * Full blocks are merged before more is filled in, unless that is left to a job and this is none. A fork's parents may have more
 * to merge than the fork sees.
 */
export function nextStep(
  segments: readonly IndexedSegment[],
  { blockSize, merging }: Pick<SearchTables, "blockSize" | "merging">,
  by: BlockMerging["by"] = "job",
): IndexStep {
  const merges = by === "job" || merging?.by === by;
  const unmerged = segments.find(({ newest, merged = 0 }) => {
    const full = Math.floor((newest?.ordinal ?? 0) / blockSize);
    return merging !== undefined && merges && full >= (merging.from ?? 0) && full - merged >= merging.blocks;
  });
  if (unmerged !== undefined) return { kind: "merge", threadId: unmerged.threadId };
  const at = segments.findIndex(({ indexed, through }) => indexed < through);
  return at === -1 ? { kind: "done" } : { kind: "fill", at };
}

/** Entries that are best written together: of blocks that are merged by who fills, or of one. */
export function partSize({ blockSize, merging }: Pick<SearchTables, "blockSize" | "merging">): number {
  return blockSize * (merging?.by === "filler" ? merging.blocks : 1);
}

/**
 * The first block of the part that comes next, if it can be written as one: nothing of it is there, and so many records are left,
 * of which `most` may be read, that it may be filled. `newest`: after it the segment goes on.
 */
export function nextPart(
  { through, indexed, merged = 0 }: Pick<IndexedSegment, "through" | "indexed" | "merged">,
  newest: Placement | null,
  tables: Pick<SearchTables, "blockSize" | "merging">,
  most: number,
): number | null {
  const size = partSize(tables);
  const first = (newest?.ordinal ?? -1) + 1;
  const isNext = tables.merging?.by === "filler" && first === merged * tables.blockSize && first % size === 0;
  return isNext && Math.min(through - indexed, most) >= size ? merged : null;
}

/** Where what comes next goes: into the pool, into blocks of the thread's own, or first out of the pool, which it outgrows. */
export function whereNext(
  { through, indexed, newest, slots = [] }: Pick<IndexedSegment, "through" | "indexed" | "newest" | "slots">,
  { pool }: Pick<SearchTables, "pool">,
): "pool" | "own" | "leave" {
  const own = newest === null ? 0 : newest.ordinal + 1 - (slots[0]?.ordinal ?? 0);
  const isSmall = own + through - indexed <= pool.most;
  if (slots.length === 0) return newest === null && isSmall ? "pool" : "own";
  return isSmall ? "pool" : "leave";
}

export interface IndexProgress {
  /** Records that are in the index, of how many. */
  readonly indexed: number;
  readonly records: number;
}

/** Of a lineage or of a user's threads. Seqs go on from a parent to its fork, so only whole threads are counted. */
export function progressOf(segments: readonly IndexedSegment[]): IndexProgress {
  let [missing, records] = [0, 0];
  for (const { through, indexed, cut } of segments) {
    missing += Math.max(0, through - indexed);
    if (cut === null) records += through;
  }
  return { indexed: records - missing, records };
}

/** The queue of the jobs that build an index in the background. */
export const INDEX_QUEUE = "index";

export interface Lateness {
  readonly threadId: string;
  /** Records that its index lacks. */
  readonly missing: number;
}

export interface Share {
  /** What the caller itself indexes, in this order, as far as its share goes. */
  readonly here: readonly string[];
  /** What a job is asked for. */
  readonly queued: readonly string[];
}

/** Somebody waits for an answer: what is more than that is left to the background. */
export const SHARE_RECORDS = 8192;
const MOST_JOBS = 200;

/** Who indexes what, where more is missing than one caller should wait for. `jobs`: those there are for this user's threads. */
export function shareOf(late: readonly Lateness[], jobs: readonly Pick<JobStatus, "threadId" | "state">[]): Share {
  const states = new Map(jobs.map(({ threadId, state }) => [threadId, state]));
  const here: string[] = [];
  const queued: string[] = [];
  let left = SHARE_RECORDS;
  for (const { threadId, missing } of late) {
    const state = states.get(threadId);
    // Two at once would do the same work twice.
    if (state === "running") continue;
    if (left > 0) here.push(threadId);
    left -= missing;
    if (left < 0 && state !== "waiting" && queued.length < MOST_JOBS) queued.push(threadId);
  }
  return { here, queued };
}

/**
 * Core's index port over a store's recall tables: exact counts, and the candidates of each seek with their neighbours.
 * It expects an index that is up to date (`catch-up.ts`) and never ranks.
 */
import type {
  CandidateRequest,
  IndexedDoc,
  Placement,
  RecallIndex,
  Scope,
  ScopeStatistics,
} from "@palimpsest/core/internal/recall";
import type { JobStatus } from "../stores/outbox.ts";
import {
  type BlockMerging,
  type IndexedSegment,
  type OrdinalRange,
  POOL,
  type SearchEntry,
  type SearchTables,
} from "../stores/search-tables.ts";
import { FEW_BLOCKS, PostingLists, type PostingPiece, type PostingScope, type TermValues } from "./posting-lists.ts";

/** For one search: `searched` is what its scope stands for, and the postings of its terms are read once. */
export function storedIndex(tables: SearchTables, searched: PostingScope, fewBlocks = FEW_BLOCKS): RecallIndex {
  let last: { readonly terms: string; readonly lists: Promise<PostingLists> } | undefined;
  const listsOf = (terms: readonly string[]): Promise<PostingLists> => {
    const key = JSON.stringify(terms);
    if (last?.terms !== key) last = { terms: key, lists: PostingLists.read(tables, searched, terms, fewBlocks) };
    return last.lists;
  };
  return {
    statistics: async (_scope, terms) => statistics(tables, searched, await listsOf(terms)),
    candidates: async (scope, request) => {
      const lists = await listsOf(request.terms);
      const matches = await seekAll(lists, newestPieces(lists, searched), request);
      const located = await locate(tables, lists, matches);
      const segments = searched.kind === "thread" ? searched.segments : [];
      const entries = await withNeighbours(tables, segments, scope, located, request.reach);
      // In a thread scope what a fork inherited is its own.
      const weights = await lists.weights(entries);
      return entries.map((entry, index) =>
        document(entry, scope.kind === "thread" ? scope.threadId : entry.threadId, weights[index]!),
      );
    },
  };
}

/** Places of the pool become their threads' ordinals. */
async function locate(tables: SearchTables, lists: PostingLists, matches: Matches): Promise<Matches> {
  const places = matches.get(POOL);
  if (places === undefined) return matches;
  const located = new Map([...matches].flatMap(([id, ordinals]) => (id === POOL ? [] : [[id, new Set(ordinals)]])));
  const slots = await tables.pool.locate([...places]);
  lists.learn(slots);
  for (const { threadId, ordinal, first, size } of slots) {
    const own = located.get(threadId) ?? new Set();
    for (let at = 0; at < size; at += 1) if (places.has(first + at)) own.add(ordinal + at);
    if (own.size > 0) located.set(threadId, own);
  }
  return located;
}

/** Spelled out: there are thousands of them, and a spread costs more than the rest of the work on each. */
function document(entry: SearchEntry, threadId: string, { frequencies, passages }: TermValues): IndexedDoc {
  const { seq, ordinal, session, at, speaker, length, asks } = entry;
  return {
    threadId,
    seq,
    ordinal,
    session,
    at,
    speaker,
    length,
    asks,
    frequencies,
    passages,
  };
}

async function statistics(tables: SearchTables, searched: PostingScope, lists: PostingLists): Promise<ScopeStatistics> {
  const holding = lists.holding();
  if (searched.kind === "user") return { entries: searched.user.entries, totalLength: searched.user.length, holding };
  let [entries, totalLength] = [0, 0];
  for (const { threadId, cut, ...own } of searched.segments) {
    const totals = cut === null ? own : await tables.totals(threadId, cut);
    entries += totals.entries;
    totalLength += totals.length;
  }
  return { entries, totalLength, holding };
}

/** The matches and their neighbors within reach in the same session. */
async function withNeighbours(
  tables: SearchTables,
  segments: readonly IndexedSegment[],
  scope: Scope,
  matches: Matches,
  reach: number,
): Promise<SearchEntry[]> {
  // Ordinals continue from segment to segment: a fork's neighbors may be in the thread it came from.
  const groups: Matches =
    scope.kind === "user"
      ? matches
      : new Map([[scope.threadId, new Set([...matches.values()].flatMap((set) => [...set]))]]);
  const ranges = [...groups].flatMap(([threadId, ordinals]) => around(threadId, ordinals, reach));
  const wanted = scope.kind === "user" ? ranges : ranges.flatMap((range) => alongSegments(range, segments));
  const byThread = Map.groupBy(await tables.entries(wanted), ({ threadId }) =>
    scope.kind === "user" ? threadId : scope.threadId,
  );
  return [...byThread].flatMap(([threadId, entries]) => inReach(entries, groups.get(threadId)!, reach));
}

/** Ordinals and sessions grow together, so of the matches on either side of an entry only the nearest can be in its session. */
function inReach(entries: readonly SearchEntry[], matches: ReadonlySet<number>, reach: number): SearchEntry[] {
  const ordered = entries.toSorted((a, b) => a.ordinal - b.ordinal);
  const isNear = new Uint8Array(ordered.length);
  const look = (at: number, match: SearchEntry | undefined): SearchEntry | undefined => {
    const entry = ordered[at]!;
    const nearest = matches.has(entry.ordinal) ? entry : match;
    if (nearest?.session === entry.session && Math.abs(entry.ordinal - nearest.ordinal) <= reach) isNear[at] = 1;
    return nearest;
  };
  let match: SearchEntry | undefined;
  for (let at = 0; at < ordered.length; at += 1) match = look(at, match);
  match = undefined;
  for (let at = ordered.length - 1; at >= 0; at -= 1) match = look(at, match);
  return ordered.filter((_, at) => isNear[at] === 1);
}

/** The matches with their surroundings, as ranges that don't overlap. */
function around(threadId: string, ordinals: ReadonlySet<number>, reach: number): OrdinalRange[] {
  const ranges: { threadId: string; first: number; last: number }[] = [];
  for (const ordinal of [...ordinals].sort((a, b) => a - b)) {
    const before = ranges.at(-1);
    if (before && ordinal - reach <= before.last + 1) before.last = ordinal + reach;
    else ranges.push({ threadId, first: Math.max(0, ordinal - reach), last: ordinal + reach });
  }
  return ranges;
}

/** A range of the scope's ordinals, cut where the entries pass from one thread to the next. */
export function alongSegments({ first, last }: OrdinalRange, segments: readonly IndexedSegment[]): OrdinalRange[] {
  const ranges: OrdinalRange[] = [];
  let from = first;
  for (const { threadId, cut } of segments) {
    const to = Math.min(last, cut ?? last);
    if (from <= to) ranges.push({ threadId, first: from, last: to });
    from = Math.max(from, to + 1);
  }
  return ranges;
}

/** Pieces with any of the terms, newest first: in a thread's lineage the later segment, among a user's threads by when they were last spoken in. */
function newestPieces(lists: PostingLists, searched: PostingScope): readonly PostingPiece[] {
  if (searched.kind === "thread") {
    const rank = new Map(searched.segments.map(({ threadId }, index) => [threadId, -index]));
    return [...lists.pieces()].sort((a, b) => rank.get(a.threadId)! - rank.get(b.threadId)! || b.first - a.first);
  }
  const { times, large } = searched.user;
  const spoken = new Map(large.map(({ threadId, newest }) => [threadId, newest?.at ?? ""]));
  const timeOf = ({ source, block }: PostingPiece) => (source === POOL ? times.get(block) : spoken.get(source)) ?? "";
  const timed = lists.pieces().map((piece) => ({ piece, time: timeOf(piece) }));
  timed.sort((a, b) => {
    if (a.time !== b.time) return a.time > b.time ? -1 : 1;
    if (a.piece.source !== b.piece.source) return a.piece.source < b.piece.source ? -1 : 1;
    return b.piece.first - a.piece.first;
  });
  return timed.map(({ piece }) => piece);
}

// The newest entries that hold all of a seek's terms, for several seeks at once. The counts of the terms say which
// pieces can hold some, and about how many: lists are read from the newest piece on, no further than they are needed.

/** Ordinals of the matches, by the thread that wrote them. */
type Matches = ReadonlyMap<string, ReadonlySet<number>>;

async function seekAll(
  lists: PostingLists,
  newestFirst: readonly PostingPiece[],
  { terms, seeks }: Pick<CandidateRequest, "terms" | "seeks">,
): Promise<Matches> {
  const matches = new Map<string, Set<number>>();
  let open = seeks.map(({ all, limit }): Seeking => {
    const own = all.map((term) => terms.indexOf(term));
    return {
      terms: own,
      left: limit,
      pieces: newestFirst.filter(({ counts }) => own.every((term) => counts[term]! > 0)),
    };
  });
  while (open.length > 0) {
    const rounds = open.map((seeking) => ({ seeking, next: seeking.pieces.slice(0, piecesToRead(seeking)) }));
    await lists.load(rounds.flatMap(({ seeking, next }) => next.map((piece) => ({ piece, terms: seeking.terms }))));
    open = rounds.flatMap(({ seeking, next }) => {
      let { left } = seeking;
      for (const piece of next) {
        if (left === 0) break;
        const newest = lists.matches(piece, seeking.terms).slice(-left);
        left -= newest.length;
        const known = matches.get(piece.threadId) ?? new Set();
        matches.set(piece.threadId, known);
        for (const ordinal of newest) known.add(ordinal);
      }
      const pieces = seeking.pieces.slice(next.length);
      return left > 0 && pieces.length > 0 ? [{ ...seeking, left, pieces }] : [];
    });
  }
  return matches;
}

interface Seeking {
  readonly terms: readonly number[];
  readonly left: number;
  readonly pieces: readonly PostingPiece[];
}

/** Words that are asked for together seldom stand apart from each other by chance alone: a little more than what is expected. */
const MARGIN = 1.5;

/** So many that they probably hold what is left; of a single term it is known. */
function piecesToRead({ terms, left, pieces }: Seeking): number {
  let expected = 0;
  let next = 0;
  while (next < pieces.length && expected < left) {
    const { counts, size } = pieces[next]!;
    const share = terms.reduce((product, term) => product * (counts[term]! / size), 1);
    expected += (share * size) / (terms.length > 1 ? MARGIN : 1);
    next += 1;
  }
  return next;
}

// What is to be done next for an index, decided from how far it has come: nothing here reads or writes. The tables
// keep the position with what was indexed, so the next one, in any process, goes on where the last one
// stopped.

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

/** Where a message stands. */
export interface MessagePlace {
  readonly threadId: string;
  readonly seq: number;
}

export function refOf({ threadId, seq }: MessagePlace): string {
  return `${threadId}#${seq}`;
}

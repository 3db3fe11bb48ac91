/**
 * Fills a thread's search index from where it stands to the log's end, in batches, never inside an append. Two processes
 * may do it at once: each batch is written only if the index still stands where it was read. What this file decides is
 * which text becomes an entry; everything else is the driver's or core's.
 */

import type { Json, MessageRecord } from "@palimpsest/core/internal/log";
import type { CallPart, Dialect, FindToolFacts, Shape, ToolFacts } from "@palimpsest/core/internal/message";
import { jsonOr, shapeOf, withToolFacts } from "@palimpsest/core/internal/message";
import type { IndexEntry, Placement } from "@palimpsest/core/internal/recall";
import { formsCompiled, indexableText, indexEntry, place } from "@palimpsest/core/internal/recall";
import { inTurns, pace } from "../long-work.ts";
import type { NewJob } from "../stores/outbox.ts";
import { partWriter, postingWriter } from "../stores/posting-text.ts";
import type { BlockMerging, IndexBatch, IndexedSegment, SearchableStore, Slot } from "../stores/search-tables.ts";
import type { Store, StoredRecord } from "../stores/store.ts";
import {
  INDEX_QUEUE,
  type IndexProgress,
  type Lateness,
  nextPart,
  nextStep,
  partSize,
  progressOf,
  SHARE_RECORDS,
  shareOf,
  whereNext,
} from "./stored-index.ts";

/** What is behind is indexed by whole blocks: each term's row is then written once, beside the one before it. */
const BATCH_CHARACTERS = 4_000_000;
const PART_CHARACTERS = 16_000_000;
/** Terms of the entries of a batch, and rows that they come to: writing them is one transaction. Text without blanks has a row for each character. */
const BATCH_TERMS = 250_000;
const BATCH_ROWS = 8_000;
const PART_ROWS = 50_000;

export interface IndexDeps {
  readonly store: Store;
  /** What is known of the tools in the log, beside recall's own. */
  readonly tools?: FindToolFacts | undefined;
  /** One of many appends in a row: until the last one only whole parts are indexed, which is far less work. */
  readonly bulk?: "more" | "last" | undefined;
}

interface SearchableDeps extends IndexDeps {
  readonly store: SearchableStore;
}

/** After appends that added so many messages. The index is derived: trouble with it is no trouble of the append's. */
export async function indexAppended({ store, tools, bulk }: IndexDeps, threadId: string, added: number): Promise<void> {
  if (!isSearchable(store)) return;
  if (bulk !== undefined) {
    const leave = bulk === "more" ? partSize(store.search) : 0;
    await catchUp(store, threadId, { tools, leave, by: "filler" }).catch(() => {});
    return;
  }
  // Who appends much indexes as much: an import leaves nothing behind that others would have to wait for.
  const share = SHARE_RECORDS + added;
  await catchUpShare({ store, tools }, threadId, share).catch(() => {});
}

/** Without tables there is nothing to be kept up to date: a search reads the log (scan.ts). */
export function isSearchable(store: Store): store is SearchableStore {
  return store.search !== undefined;
}

interface CatchUpOptions {
  readonly tools?: FindToolFacts | undefined;
  /** Ends after so many records, at the next batch; without it at the log's end. */
  readonly most?: number;
  /** Ends where fewer records than that are left. */
  readonly leave?: number;
  /** Before each step: how many records of the thread are indexed, and of how many. */
  readonly onStep?: (progress: IndexProgress) => void;
  /** The segments, where they were just read. */
  readonly known?: readonly IndexedSegment[];
  /** `filler`: somebody waits, so blocks that a store merges by jobs are left to one. */
  readonly by?: BlockMerging["by"];
  /** Between two steps. It may throw: what is indexed stays. */
  readonly pause?: () => Promise<void>;
}

/** Returns the segments of the thread, indexed to their end or by `most` records. */
export async function catchUp(
  store: SearchableStore,
  threadId: string,
  { tools, most = Number.MAX_SAFE_INTEGER, leave = 0, onStep, known, by, pause }: CatchUpOptions = {},
): Promise<readonly IndexedSegment[]> {
  let segments = known ?? (await store.search.lineage(threadId));
  const steps = pace();
  for (let left = most; ; segments = await store.search.lineage(threadId)) {
    const own = segments.at(-1);
    if (own !== undefined) onStep?.({ indexed: own.indexed, records: own.through });
    const step = nextStep(segments, store.search, by);
    if (step.kind === "done" || left <= 0) return segments;
    if (own !== undefined && Math.max(0, own.through - own.indexed) < leave) return segments;
    if (step.kind === "fill") left -= await advance({ store, tools }, segments, step.at, left);
    else if ((await store.search.merging?.merge(step.threadId)) === "nothing") left = 0;
    await pause?.();
    if (steps.isDue()) await steps.turn();
  }
}

/**
 * For a caller for whom somebody waits: indexes the thread if that is soon done. Else it does its share of it, and asks for a
 * job that does the rest in the background (indexing.ts), unless one is at it.
 */
export async function catchUpShare(
  deps: SearchableDeps,
  threadId: string,
  share = SHARE_RECORDS,
): Promise<readonly IndexedSegment[]> {
  const { store, tools } = deps;
  const segments = await store.search.lineage(threadId);
  const { indexed, records } = progressOf(segments);
  if (!isTooMuch(store, records - indexed, share)) {
    const brought = await catchUp(store, threadId, { tools, known: segments, by: "filler" });
    await leaveMerging(store, brought);
    return brought;
  }
  await shareWork(deps, [{ threadId, missing: records - indexed }]);
  return store.search.lineage(threadId);
}

/** The same for several threads, those first that matter most. */
export async function shareWork(deps: SearchableDeps, late: readonly Lateness[]): Promise<void> {
  const { store, tools } = deps;
  const missing = new Map(late.map((thread) => [thread.threadId, thread.missing]));
  const isAll = !isTooMuch(
    store,
    late.reduce((sum, thread) => sum + thread.missing, 0),
  );
  const here = isAll ? [...missing.keys()] : await leaveRest(store, late);
  let left = isAll ? Number.MAX_SAFE_INTEGER : SHARE_RECORDS;
  for (const threadId of here) {
    await catchUp(store, threadId, { tools, most: left, by: "filler" });
    left -= missing.get(threadId)!;
  }
}

function isTooMuch(store: Store, missing: number, share = SHARE_RECORDS): boolean {
  return missing > share && store.outbox?.queue !== undefined;
}

/** Asks for a job where blocks are to be merged, unless there is one. */
async function leaveMerging(store: SearchableStore, segments: readonly IndexedSegment[]) {
  const step = nextStep(segments, store.search);
  if (step.kind !== "merge") return;
  const { outbox, userId } = store;
  if (outbox?.queue === undefined) return;
  const jobs = await outbox.list(INDEX_QUEUE);
  if (jobs.some((job) => job.userId === userId && job.threadId === step.threadId)) return;
  await outbox.queue(step.threadId, indexJob("here", Date.now()));
}

/** Asks for jobs; which threads the caller has its share in. */
async function leaveRest({ outbox, userId }: Store, late: readonly Lateness[]): Promise<readonly string[]> {
  const jobs = ((await outbox?.list(INDEX_QUEUE)) ?? []).filter((job) => job.userId === userId);
  const { here, queued } = shareOf(late, jobs);
  for (const threadId of queued) await outbox?.queue?.(threadId, indexJob("here", Date.now()));
  return here;
}

/** `start`: what is there is dropped first. */
export interface IndexPayload {
  readonly [name: string]: Json;
  readonly from: "start" | "here";
}

/** A kill counts as an attempt, and an index may live through many: what was indexed before each of them stays. */
const MAX_ATTEMPTS = 100;

export function indexJob(from: IndexPayload["from"], now: number): NewJob<IndexPayload> {
  return { queue: INDEX_QUEUE, key: "", payload: { from }, delayMs: 0, maxAttempts: MAX_ATTEMPTS, now };
}

/**
 * Drops the thread's index and makes it anew. Each batch is a transaction of its own: others read and write meanwhile, and
 * where it is ended, the next search goes on.
 */
export async function rebuildIndex(
  store: Store,
  threadId: string,
  onBatch?: (indexed: number, records: number) => void,
): Promise<void> {
  if (!isSearchable(store)) return;
  await store.search.clear(threadId);
  await catchUp(store, threadId, { onStep: ({ indexed, records }) => onBatch?.(indexed, records) });
}

/** The placement of the segment's last entry: a fork continues from it. */
async function placementAt(
  store: SearchableStore,
  segment: IndexedSegment,
  inherited: Placement | null,
): Promise<Placement | null> {
  if (segment.newest === null || (segment.cut !== null && segment.cut < 0)) return inherited;
  if (segment.cut === null || segment.cut === segment.newest.ordinal) return segment.newest;
  const [entry] = await store.search.entries([{ threadId: segment.threadId, first: segment.cut, last: segment.cut }]);
  return entry ?? inherited;
}

/** One batch further, unless the thread has to leave the pool first. */
async function advance(deps: SearchableDeps, segments: readonly IndexedSegment[], at: number, most: number) {
  const { search } = deps.store;
  const segment = segments[at]!;
  if (whereNext(segment, search) !== "leave") return fill(deps, segments, at, most);
  await search.pool.leave(segment.threadId);
  return 0;
}

/** One batch further, a block or a part; how many records. `most`: so many may be read. */
async function fill(
  deps: SearchableDeps,
  segments: readonly IndexedSegment[],
  at: number,
  most: number,
): Promise<number> {
  let inherited: Placement | null = null;
  for (const before of segments.slice(0, at)) inherited = await placementAt(deps.store, before, inherited);
  const segment = segments[at]!;
  const { store } = deps;
  const { threadId } = segment;
  const { blockSize } = store.search;
  const range = [segment.indexed + 1, segment.through] as const;
  let newest = segment.newest ?? inherited;
  const isPooled = whereNext(segment, store.search) === "pool";
  const part = isPooled ? null : nextPart(segment, newest, store.search, most);
  const parted = part === null ? null : partWriter(blockSize, part);
  const postings = parted ?? postingWriter(blockSize);
  const first = (newest?.ordinal ?? -1) + 1;
  const pooled: { readonly ordinal: number; readonly entry: IndexEntry }[] = [];
  const [size, limit] = part === null ? [blockSize, BATCH_CHARACTERS] : [partSize(store.search), PART_CHARACTERS];
  const isFull = () => newest !== null && (newest.ordinal + 1) % size === 0;
  const entries = [];
  let [indexed, characters, terms] = [segment.through, 0, 0];
  // Those of a pool become rows at the end.
  const isMuch = () =>
    terms > BATCH_TERMS || (isPooled ? terms : postings.size) > (part === null ? BATCH_ROWS : PART_ROWS);
  const read = entryReader(deps, threadId);
  await inTurns(formsCompiled());
  for await (const stored of store.records(threadId, { range, kinds: ["message"] })) {
    if ((entries.length > 0 && !isPooled && isFull()) || characters > limit || isMuch()) {
      indexed = stored.chained.seq - 1;
      break;
    }
    characters += stored.chained.body?.length ?? 0;
    const entry = await read(stored);
    if (entry === "echo") continue;
    terms += entry === "erased" ? 0 : entry.terms.size;
    newest = place(newest, stored.record.at);
    // An erased message keeps its place among the others and can't be found.
    if (entry === "erased") continue;
    const { ordinal, session } = newest;
    const { at, speaker, length, asks } = entry;
    entries.push({
      ordinal,
      seq: stored.chained.seq,
      session,
      at,
      speaker,
      length,
      asks,
    });
    if (isPooled) pooled.push({ ordinal, entry });
    else postings.add(ordinal, entry.terms, entry.passages);
  }
  const shared =
    pooled.length === 0 ? {} : { slots: await store.search.pool.reserve(threadId, first, newest!.ordinal + 1 - first) };
  for (const { ordinal, entry } of pooled) postings.add(placeOf(shared.slots, ordinal), entry.terms, entry.passages);
  const made = parted !== null && isFull() ? { postings: [], part: parted.merged() } : { postings: postings.rows() };
  const batch: IndexBatch = { expect: segment.indexed, indexed, newest, entries, ...made, ...shared };
  // On a conflict another process has done this batch, or erased something in it; or the thread is gone. The caller looks anew.
  await store.search.write(threadId, batch);
  return indexed - segment.indexed;
}

/** Zero where the thread is gone: then nothing is written. */
function placeOf(slots: readonly Slot[] | undefined, ordinal: number): number {
  const slot = slots?.find((one) => ordinal >= one.ordinal && ordinal < one.ordinal + one.size);
  return slot === undefined ? 0 : slot.first + ordinal - slot.ordinal;
}

/** What a message is in the index, for messages in order. Remembers the calls it has seen, to know which results are echoes. */
export function entryReader({ store, tools }: IndexDeps, threadId: string) {
  const calls = new Map<string, RecallCall>();
  let first: number | null = null;
  let hasLookedBack = false;
  const shapeFor = (record: MessageRecord): Shape<object> => recallShape(record.dialect, tools);
  return async (stored: StoredRecord): Promise<IndexEntry | "echo" | "erased"> => {
    first ??= stored.chained.seq;
    if (stored.redacted) return "erased";
    const record = stored.record as MessageRecord;
    const shape = shapeFor(record);
    const message = parse(record.body);
    if (message === undefined) return "echo";
    const { seq } = record;
    for (const call of callsIn(message, shape)) calls.set(call.id, { ...call, seq });
    // Once is enough: later results look back less far behind the first message.
    if (!hasLookedBack && shape.answers(message).some((id) => !calls.has(id))) {
      hasLookedBack = true;
      const before = callsBefore(store, threadId, [Math.max(1, seq - LOOK_BACK), first - 1], shapeFor);
      for await (const call of before) if (!calls.has(call.id)) calls.set(call.id, call);
    }
    // Where a batch begins must not matter: what is too far back to be looked for isn't known from the same batch either.
    const call = (id: string): RecallCall | undefined => {
      const known = calls.get(id);
      return known && known.seq < seq - LOOK_BACK ? UNKNOWN : known;
    };
    const options = { origin: record.origin, call };
    const indexable = indexableText(message, shape, options);
    return indexable === null ? "echo" : indexEntry({ ...indexable, at: record.at });
  };
}

interface RecallCall extends Pick<CallPart, "input" | "facts"> {
  readonly seq: number;
}

const UNKNOWN: RecallCall = { input: "", seq: 0 };

function callsIn(message: object, shape: Shape<object>): readonly CallPart[] {
  return shape.parts(message).filter((part) => part.kind === "call");
}

/** A result answers a call shortly before it; further back it isn't looked for. */
const LOOK_BACK = 256;

/** The newest first. */
async function* callsBefore(
  store: Store,
  threadId: string,
  range: readonly [number, number],
  shapeFor: (record: MessageRecord) => Shape<object>,
): AsyncGenerator<CallPart & RecallCall> {
  if (range[0] > range[1]) return;
  for await (const { record } of store.records(threadId, { range, kinds: ["message"], order: "descending" })) {
    const message = record.kind === "message" ? parse(record.body) : undefined;
    if (record.kind !== "message" || message === undefined) continue;
    for (const call of callsIn(message, shapeFor(record))) yield { ...call, seq: record.seq };
  }
}

function parse(body: string): object | undefined {
  const value = jsonOr(body, undefined);
  return typeof value === "object" && value !== null ? value : undefined;
}

// What recall's own tools say of themselves, and the shapes that know it: what they repeat is never indexed again.

/** They read the log, not files, and bound what they return. */
const REPEATS: ToolFacts = { act: "none", answers: "history", output: "bounded" };

export const RECALL_FACTS = { recall: REPEATS, recall_read: REPEATS } as const;

/** A log may have been written by an agent that isn't here to ask: recall's tools are known by name then. */
export function recallShape(dialect: Dialect, find: FindToolFacts = () => undefined): Shape<object> {
  return withToolFacts(shapeOf<object>(dialect), (name) => find(name) ?? own(name));
}

function own(name: string): ToolFacts | undefined {
  return name === "recall" || name === "recall_read" ? RECALL_FACTS[name] : undefined;
}

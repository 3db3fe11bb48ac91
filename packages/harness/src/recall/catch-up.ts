/**
 * Fills a thread's search index from where it stands to the log's end, in batches, never inside an append. Two processes
 * may do it at once: each batch is written only if the index still stands where it was read. What this file decides is
 * which text becomes an entry; everything else is the driver's or core's.
 */

import { withToolFacts } from "@palimpsest/core/internal/message";
import { place } from "@palimpsest/core/internal/recall";
import type { MessageRecord } from "@palimpsest/core/log";
import {
  type CallPart,
  type Dialect,
  type FindToolFacts,
  type Shape,
  shapeOf,
  type ToolFacts,
} from "@palimpsest/core/message";
import { type IndexEntry, indexableText, indexEntry, type Placement } from "@palimpsest/core/recall";
import { type IndexedSegment, postingWriter, type SearchableStore } from "../stores/search-tables.ts";
import type { Store, StoredRecord } from "../stores/store.ts";

/** After this many new messages the index is brought up to date without waiting for a search. */
export const EAGER_MESSAGES = 128;
/** What is behind is indexed by whole blocks: each term's row is then written once, beside the one before it. */
const BATCH_CHARACTERS = 4_000_000;

export interface IndexDeps {
  readonly store: Store;
  /** What is known of the tools in the log, beside recall's own. */
  readonly tools?: FindToolFacts;
}

/**
 * To be called after an append: does nothing most of the time. `before` and `after` are the thread's message counts. The
 * index is derived: trouble with it is no trouble of the append's.
 */
export async function keepIndexed(
  { store, tools }: IndexDeps,
  threadId: string,
  before: number,
  after: number,
): Promise<void> {
  if (Math.floor(before / EAGER_MESSAGES) === Math.floor(after / EAGER_MESSAGES) || !isSearchable(store)) return;
  await catchUp(store, threadId, tools).catch(() => {});
}

/** Without tables there is nothing to be kept up to date: a search reads the log (scan.ts). */
export function isSearchable(store: Store): store is SearchableStore {
  return store.search !== undefined;
}

/** Returns the segments of the thread, indexed to their end. `onBatch`: how many records of it are indexed, and of how many. */
export async function catchUp(
  store: SearchableStore,
  threadId: string,
  tools?: FindToolFacts,
  onBatch?: (indexed: number, records: number) => void,
): Promise<readonly IndexedSegment[]> {
  for (;;) {
    const segments = await store.search.lineage(threadId);
    const own = segments.at(-1);
    if (own !== undefined) onBatch?.(own.indexed, own.through);
    let previous: Placement | null = null;
    let moved = false;
    for (const segment of segments) {
      if (await indexSegment({ store, ...(tools && { tools }) }, segment, previous)) moved = true;
      previous = await placementAt(store, segment, previous);
      if (moved) break;
    }
    if (!moved) {
      await mergeBlocks(store, segments);
      return segments;
    }
  }
}

/** What is full is read in larger pieces from then on. A fork's parents may have more to merge than the fork sees. */
async function mergeBlocks({ search }: SearchableStore, segments: readonly IndexedSegment[]): Promise<void> {
  const { merging, blockSize } = search;
  if (merging === undefined) return;
  for (const { threadId, newest, merged = 0 } of segments) {
    const full = Math.floor((newest?.ordinal ?? 0) / blockSize) - merged;
    for (let left = full; left >= merging.blocks; left -= merging.blocks)
      if ((await merging.merge(threadId)) === "nothing") break;
  }
}

/**
 * Drops the thread's index and makes it anew, for `doctor --rebuild`. Each batch is a transaction of its own: others read and
 * write meanwhile, and where it is ended, the next search goes on.
 */
export async function rebuildIndex(
  store: Store,
  threadId: string,
  onBatch?: (indexed: number, records: number) => void,
): Promise<void> {
  if (!isSearchable(store)) return;
  await store.search.clear(threadId);
  await catchUp(store, threadId, undefined, onBatch);
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

/** One batch further; false when there was nothing to do. */
async function indexSegment(
  deps: IndexDeps & { readonly store: SearchableStore },
  segment: IndexedSegment,
  inherited: Placement | null,
): Promise<boolean> {
  if (segment.indexed >= segment.through) return false;
  const { store } = deps;
  const { threadId } = segment;
  const { blockSize } = store.search;
  const range = [segment.indexed + 1, segment.through] as const;
  const postings = postingWriter(blockSize);
  const entries = [];
  let newest = segment.newest ?? inherited;
  let [indexed, characters] = [segment.through, 0];
  const read = entryReader(deps, threadId);
  for await (const stored of store.records(threadId, { range, kinds: ["message"] })) {
    const isFull = entries.length > 0 && newest !== null && (newest.ordinal + 1) % blockSize === 0;
    if (isFull || characters > BATCH_CHARACTERS) {
      indexed = stored.chained.seq - 1;
      break;
    }
    characters += stored.chained.body?.length ?? 0;
    const entry = await read(stored);
    if (entry === "echo") continue;
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
    postings.add(ordinal, entry.terms);
  }
  const batch = { expect: segment.indexed, indexed, newest, entries, postings: postings.rows() };
  // On a conflict another process has done this batch, or erased something in it: the caller looks anew.
  return (await store.search.write(threadId, batch)) !== "missing";
}

/** What a message is in the index. Remembers the calls it has seen, to know which results are echoes. */
export function entryReader({ store, tools }: IndexDeps, threadId: string) {
  const calls = new Map<string, Call>();
  const shapeFor = (record: MessageRecord): Shape<unknown> => recallShape(record.dialect, tools);
  return async (stored: StoredRecord): Promise<IndexEntry | "echo" | "erased"> => {
    if (stored.redacted) return "erased";
    const record = stored.record as MessageRecord;
    const shape = shapeFor(record);
    const message = parse(record.body);
    if (message === undefined) return "echo";
    for (const call of callsIn(message, shape)) calls.set(call.id, call);
    for (const id of shape.answers(message)) {
      if (!calls.has(id)) calls.set(id, await findCall(store, { threadId, seq: record.seq, id, shapeFor }));
    }
    const options = { origin: record.origin, call: (id: string) => calls.get(id) };
    const indexable = indexableText(message, shape, options);
    return indexable === null ? "echo" : indexEntry({ ...indexable, at: record.at });
  };
}

type Call = Pick<CallPart, "input" | "facts">;

function callsIn(message: object, shape: Shape<unknown>): readonly CallPart[] {
  return shape.parts(message).filter((part) => part.kind === "call");
}

/** A result answers a call shortly before it; further back it isn't looked for. */
const LOOK_BACK = 64;

interface Answered {
  readonly threadId: string;
  readonly seq: number;
  readonly id: string;
  readonly shapeFor: (record: MessageRecord) => Shape<unknown>;
}

async function findCall(store: Store, { threadId, seq, id, shapeFor }: Answered): Promise<Call> {
  const range = [Math.max(1, seq - LOOK_BACK), seq - 1] as const;
  for await (const { record } of store.records(threadId, { range, kinds: ["message"], order: "descending" })) {
    if (record.kind !== "message") continue;
    const message = parse(record.body);
    const call = message && callsIn(message, shapeFor(record)).find((one) => one.id === id);
    if (call) return call;
  }
  return { input: "" };
}

function parse(body: string): object | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

// What recall's own tools say of themselves, and the shapes that know it: what they repeat is never indexed again.

/** They read the log, not files, and bound what they return. */
const REPEATS: ToolFacts = { act: "none", answers: "history", output: "bounded" };

export const RECALL_FACTS = { recall: REPEATS, recall_read: REPEATS } as const;

/** A log may have been written by an agent that isn't here to ask: recall's tools are known by name then. */
export function recallShape(dialect: Dialect, find: FindToolFacts = () => undefined): Shape<unknown> {
  return withToolFacts(shapeOf(dialect) as Shape<unknown>, (name) => find(name) ?? own(name));
}

function own(name: string): ToolFacts | undefined {
  return Object.hasOwn(RECALL_FACTS, name) ? RECALL_FACTS[name as keyof typeof RECALL_FACTS] : undefined;
}

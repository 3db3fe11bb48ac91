/**
 * The log of an open thread: its live records, loaded once and folded forward with every append, and read through one
 * message shape. Message objects are kept while they are visible, so that counts stay cached. It is written to in turn and
 * under the lease, which is taken for each write and given back after it, or held for as long as some work goes on; by
 * compare-and-set on the head it knows. What is not appended has not happened.
 */

import {
  type Head,
  type Json,
  type LiveRecords,
  liveAfterAll,
  type MessageRecord,
  type Origin,
  parseHeader,
  parseRecord,
  readRules,
  rulesInForce,
  type UsageRecord,
  type ViewEntry,
  type ViewOptions,
  view,
} from "@palimpsest/core/internal/log";
import { isDialect, type Role, readMessage, type Shape, shapeOf } from "@palimpsest/core/internal/message";
import { rememberStateChain, stateChainOf, withChanges } from "../compaction/state-chain.ts";
import { jsonSteps } from "../long-work.ts";
import type { ClaimedLease } from "../stores/leases.ts";
import type { AppendBatch, Lease, Store } from "../stores/store.ts";
import {
  foldingView,
  type LoadedNow,
  type LoadedThread,
  loadedNow,
  loadedThread,
  type OpenSizer,
  readBody,
} from "./thread-view.ts";
import {
  type Committed,
  eraseBodies,
  gone,
  keepIndexed,
  prepare,
  type RecordInput,
  type ThreadDeps,
  ThreadError,
  type ThreadLeases,
  type Writer,
} from "./writer.ts";

/** What others have done to the log since: nothing, added to it, or changed what was there. */
export type Moved = "current" | "grown" | "reread";

/** Records, and what goes into the store with them. */
export interface Batch extends Pick<AppendBatch, "jobs" | "prompts" | "matches" | "flush" | "leaseAfter"> {
  readonly inputs: readonly RecordInput[];
  /** Bodies that are replaced for good, with a receipt: for words that were erased elsewhere while they were written here. */
  readonly erase?: readonly { readonly seq: number; readonly body: string }[];
}

/** Which thread is opened, how it is read, and under which lease it is written to. */
export interface ThreadPlace<M> {
  readonly deps: ThreadDeps;
  readonly id: string;
  readonly shape: Shape<M>;
  /** Taken for each write, held from now on, or one that the caller holds and gives back. */
  readonly lease: "per-write" | "held" | { readonly lease: Lease; readonly lost: AbortSignal } | ClaimedLease;
  /** How long a write waits for a thread that somebody else holds. */
  readonly waitMs?: number;
  /** The same thread as it was left earlier; where the log has only grown since, only what was added is read. */
  readonly before?: LeftThread<M> | null;
  readonly times?: ViewOptions<M>["times"];
}

/** What an open thread was left with, for the next who opens it. */
export interface LeftThread<M> {
  readonly log: LeftLog<M>;
  readonly sized: OpenSizer<M>;
}

interface LeftLog<M> extends Pick<LoadedThread, "header" | "head" | "live"> {
  readonly view: () => readonly ViewEntry<M>[];
  readonly original: (record: MessageRecord) => M;
}

/**
 * `moved` hears when others have added to the log or changed what was there. A log that no one else can write to is the only
 * one that needn't be looked at again. Null: there is no such thread.
 */
export async function openLog<M extends object>(
  { id, shape, before = null, times }: Pick<ThreadPlace<M>, "id" | "shape" | "before" | "times">,
  leases: ThreadLeases,
  moved: () => Promise<void>,
) {
  const { during, writer } = leases;
  const earlier = before === null ? null : { ...before.log, reports: null };
  // Until the lease is taken, the log is taken to stand where it stood: the append that takes it finds out.
  const isUnread = earlier !== null && leases.isUntaken();
  const first: LoadedNow = isUnread ? { moved: "current", now: earlier } : await loadedNow(writer, id, earlier);
  if (first.now === null) return null;
  const known = first.moved === "reread" || before === null ? null : before.log;
  const original = known?.original ?? readingOnce(shape);
  const viewing = { shape, read: original, times };
  const shown = foldingView(viewing, known && { live: known.live, entries: known.view() });
  const log: LogState = { id, leases, moved, now: first.now, stale: false, whole: wholeLog(writer, id) };
  return {
    header: first.now.header,
    shape,
    original,
    head: (): Head => log.now.head,
    live: (): LiveRecords => log.now.live,
    view: (live?: LiveRecords): readonly ViewEntry<M>[] =>
      live === undefined ? shown(log.now.live) : view(live, viewing),
    /** The reports on what is visible, oldest first, as they were read with the log; null: the store has them. */
    reports: (): readonly UsageRecord[] | null => log.now.reports,
    async summaryState(): Promise<Json> {
      return (await stateChainOf(writer.store, id, log.now.live.compaction))?.state ?? null;
    },
    /** By the ids of messages, however far back. */
    ids: () => log.whole.ids(log.now.head.version),
    erased: () => log.whole.erased(log.now.head.version),
    catchUp: () => catchUp(log),
    /** What a compactor writes stands on the fold that it was planned on. */
    commit(inputs: readonly RecordInput[]): Promise<Committed> {
      const planned = log.now.head;
      return during(async () => {
        const how = await catchUp(log);
        const { head } = log.now;
        // Where words were erased, a summary may still hold them.
        if (how === "reread" || foldOf(planned) !== foldOf(head)) return { kind: "conflict", version: head.version };
        return append(log, inputs);
      });
    },
    write: (make: () => Batch | Promise<Batch>): Promise<readonly number[]> =>
      during(async () => {
        await catchUp(log);
        const { inputs, erase, ...also } = await make();
        if (erase !== undefined) return seqsOf(log, await replaceBodies(log, erase, inputs));
        return inputs.length === 0 ? [] : seqsOf(log, await append(log, inputs, also));
      }),
    act: <T>(work: (writer: Writer) => Promise<T>): Promise<T> =>
      during(async () => {
        log.stale = true;
        return work({ ...writer });
      }),
    async hold() {
      const held = await leases.hold();
      log.stale = true;
      return held;
    },
    left: (): LeftLog<M> => {
      const { header, head, live } = log.now;
      return { header, head, live, view: viewOf(shown, live), original };
    },
  };
}

/** It is kept after the thread was left: made here, it holds nothing of who opened that. */
function viewOf<M>(shown: ReturnType<typeof foldingView<M>>, live: LiveRecords): LeftLog<M>["view"] {
  return () => shown(live);
}

/** What is known of an open log. */
interface LogState {
  readonly id: string;
  readonly leases: ThreadLeases;
  readonly moved: () => Promise<void>;
  readonly whole: ReturnType<typeof wholeLog>;
  now: LoadedThread;
  /** Whether somebody may have written since it was read. */
  stale: boolean;
}

/** Throws a `ThreadError` when the thread is gone. */
async function catchUp(log: LogState): Promise<Moved> {
  const { id, leases, whole } = log;
  if (leases.isHeld() && !log.stale) return "current";
  const { moved, now } = await loadedNow(leases.writer, id, log.now);
  if (now === null) return gone(id);
  log.now = now;
  log.stale = false;
  if (moved === "reread") whole.forget();
  if (moved !== "current") await log.moved();
  return moved;
}

async function append(
  log: LogState,
  inputs: readonly RecordInput[],
  also?: Omit<Batch, "inputs" | "erase">,
): Promise<Committed> {
  const { id, leases, now } = log;
  const { writer } = leases;
  const chain = inputs.some(isCompaction) ? await stateChainOf(writer.store, id, now.live.compaction) : null;
  const rules = ruleHashes(now.live, inputs, writer.hash);
  const written = inputs.map((input) => (isCompaction(input) ? { ...withChanges(input, chain), ...rules } : input));
  const batch = { ...(await prepare(writer, now.head, written)), ...also };
  const result = await leases.append(batch, now.head.hash);
  if (result.kind !== "appended") return result;
  const records = batch.records.map(parseRecord);
  const { head } = batch;
  log.now = { ...now, head, reports: null };
  const added = records.filter((record) => record.kind !== "undo");
  if (added.length < records.length) await reload(log);
  else log.now = { ...log.now, live: liveAfterAll(now.live, added) };
  for (const record of records) if (record.kind === "compaction") rememberStateChain(chain, record);
  await keepIndexed(writer, id, now.head.messages, log.now.head.messages);
  return { kind: "committed", head: log.now.head, seqs: records.map(({ seq }) => seq) };
}

async function replaceBodies(
  log: LogState,
  erase: NonNullable<Batch["erase"]>,
  inputs: readonly RecordInput[],
): Promise<Committed> {
  const result = await eraseBodies(log.leases.writer, erase, { head: log.now.head, inputs });
  if (result.kind !== "committed") return result;
  await reload(log);
  log.whole.forget();
  return result;
}

async function reload(log: LogState): Promise<void> {
  const loaded = await log.leases.writer.store.load(log.id);
  if (loaded !== undefined) log.now = loadedThread(loaded);
}

async function seqsOf({ id, leases }: LogState, committed: Committed): Promise<readonly number[]> {
  if (committed.kind === "committed") return committed.seqs;
  if (committed.kind === "missing" || (await leases.writer.store.header(id)) === undefined) return gone(id);
  // Under the lease, right after catching up: only another holder can be in the way.
  const problem = `thread ${id} was taken over while it was written to: nothing was written, try again`;
  throw new ThreadError("lease-lost", problem);
}

export type StoredLog<M extends object> = NonNullable<Awaited<ReturnType<typeof openLog<M>>>>;

/** A record's message stays the same object as long as the record is held. */
function readingOnce<M>(shape: Shape<M>): (record: MessageRecord) => M {
  const cache = new WeakMap<MessageRecord, { readonly message: M }>();
  return (record) => {
    const entry = cache.get(record) ?? { message: readBody(record, shape) };
    cache.set(record, entry);
    return entry.message;
  };
}

function isCompaction(input: RecordInput): input is Extract<RecordInput, { kind: "compaction" }> {
  return input.kind === "compaction";
}

/** A compaction names the rules in force, so that what a view must show can be checked in the log alone. */
function ruleHashes(live: LiveRecords, inputs: readonly RecordInput[], hash: Writer["hash"]) {
  const stated = inputs.findLast((input) => input.kind === "state" && "rules" in input.patch);
  const rules = stated?.kind === "state" ? readRules(stated.patch) : live.rules;
  const inForce = rules.list.length === 0 ? [] : rulesInForce(rules);
  return inForce.length === 0 ? {} : { rules: inForce.map(({ text }) => hash(text)) };
}

function foldOf({ compaction, hiddenThrough, prunes, undone }: Head): string {
  return JSON.stringify([compaction, hiddenThrough, prunes, undone]);
}

/** What is read of the whole log once, and then only of what was added. */
function wholeLog({ store }: Writer, id: string) {
  let seqs = new Map<string, number>();
  let idsThrough = 0;
  let erased: boolean | null = null;
  return {
    async ids(version: number): Promise<ReadonlyMap<string, number>> {
      if (version > idsThrough) {
        const query = { range: [idsThrough + 1, version], kinds: ["message"], bodies: "none" } as const;
        for await (const { chained } of store.records(id, query)) {
          const header = parseHeader(chained);
          if (header.kind === "message" && !seqs.has(header.id)) seqs.set(header.id, header.seq);
        }
        idsThrough = version;
      }
      return seqs;
    },
    async erased(version: number): Promise<boolean> {
      erased ??= await hasErased(store, id, version);
      return erased;
    },
    /** The log is another one than it was: words were erased, or something was taken back. */
    forget(): void {
      seqs = new Map();
      idsThrough = 0;
      erased = null;
    },
  };
}

async function hasErased(store: Store, id: string, version: number): Promise<boolean> {
  for await (const { record } of store.records(id, { range: [1, version], kinds: ["event"] }))
    if (record.kind === "event" && record.event.type === "redacted") return true;
  return false;
}

// Messages and other values on their way into the log. What a loop gives to its thread is checked at the boundary.

/** A message under an id of its own: given again, it is passed over. */
export interface IdentifiedMessage<M> {
  readonly message: M;
  /** Without one it is new each time. */
  readonly id?: string | undefined;
  /** By default what its role says; `aborted` for an answer that was cut off. */
  readonly origin?: Origin | undefined;
}

export type GivenMessage<M> = M | IdentifiedMessage<M>;

export interface ReadGiven {
  readonly id: string | null;
  readonly role: Role;
  readonly record: Pick<MessageRecord, "kind" | "dialect" | "origin" | "body">;
}

/** Messages as they are when they are given: the caller may change them afterwards. */
export function copyGiven<M extends object>(given: readonly GivenMessage<M>[]) {
  return given.map((one) => {
    const { message, id = null, origin } = isIdentified(one) ? one : { message: one };
    return { id, origin, value: plain(message, new Set()) };
  });
}

/** Throws a `ThreadError` that names the first message the shape can't read. */
export function* readGiven<M extends object>(
  given: ReturnType<typeof copyGiven>,
  shape: Shape<M>,
): Generator<void, readonly ReadGiven[]> {
  const { dialect } = shape;
  if (!isDialect(dialect)) throw new ThreadError("bad-message", `a log keeps no messages of ${dialect}`);
  const list: ReadGiven[] = [];
  for (const [index, { id, origin, value }] of given.entries()) {
    const body = (yield* jsonSteps(value)) ?? "null";
    yield;
    const read = readMessage(dialect, JSON.parse(body));
    if (read.kind === "problem")
      throw new ThreadError("bad-message", `message ${index + 1} can't be appended: ${read.detail}`);
    const role = shapeOf<object>(dialect).role(read.message);
    list.push({ id, role, record: { kind: "message", dialect, origin: origin ?? ORIGINS[role], body } });
    yield;
  }
  return list;
}

/** No dialect has a message inside a message. */
function isIdentified<M extends object>(given: GivenMessage<M>): given is IdentifiedMessage<M> {
  return given !== null && typeof given === "object" && "message" in given && typeof given.message === "object";
}

const ORIGINS = { user: "user", assistant: "model", tool: "tool", system: "injected" } as const;

/** Throws only for what has no JSON at all: a value that contains itself. */
export function bodyOf(value: unknown): string {
  return JSON.stringify(plain(value, new Set())) ?? "null";
}

/** The same value with everything JSON can't hold replaced. */
export function jsonOf(value: unknown): unknown {
  return JSON.parse(bodyOf(value));
}

function plain(value: unknown, parents: Set<object>): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "function" || typeof value === "symbol") return undefined;
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString("base64");
  if (value instanceof URL) return value.href;
  if (value instanceof Error) return { name: value.name, message: value.message };
  if ("toJSON" in value && typeof value.toJSON === "function") return plain(value.toJSON(), parents);
  if (parents.has(value)) throw new TypeError("the value contains itself and can't be written as JSON");
  parents.add(value);
  const written = children(value, parents);
  parents.delete(value);
  return written;
}

function children(value: object, parents: Set<object>): unknown {
  if (Array.isArray(value)) return value.map((item) => plain(item, parents) ?? null);
  if (value instanceof Set) return [...value].map((item) => plain(item, parents) ?? null);
  const entries =
    value instanceof Map ? [...value].map(([key, item]) => [keyText(key, parents), item]) : Object.entries(value);
  return Object.fromEntries(entries.map(([key, item]) => [key, plain(item, parents)]));
}

/** A key that is itself an object may have no text of its own. */
function keyText(key: unknown, parents: Set<object>): string {
  return typeof key === "object" && key !== null ? (JSON.stringify(plain(key, parents)) ?? "") : String(key);
}

/**
 * A writer is the right to append to one thread, with what that takes: its lease, a clock, ids, the hash. `commit` is the only
 * way records get into a log: chain them, fold the head, compare and set.
 */
import { hash as digest, randomUUID } from "node:crypto";
import { advance, chain, emptyHead, headFold, structural } from "@palimpsest/core/internal/log";
import {
  type ChainedRecord,
  checkThreadId,
  type Hash,
  type Head,
  type NewRecord,
  parseHeader,
  parseRecord,
  type RecordHeader,
  type RedactedEvent,
  type Rewrite,
  type Structural,
} from "@palimpsest/core/log";
import type { FindToolFacts } from "@palimpsest/core/message";
import type { EmbeddingModel } from "ai";
import { keepIndexed } from "../recall/catch-up.ts";
import type { OnEmbedding } from "../recall/embedder.ts";
import { type ClaimedLease, withLease } from "../stores/leases.ts";
import type { AppendBatch, AppendResult, Lease, RecordQuery, Store } from "../stores/store.ts";

export interface ThreadDeps {
  readonly store: Store;
  readonly clock: () => Date;
  readonly ids: () => string;
  readonly hash: Hash;
  /** What the tools in its threads say of themselves; recall's own are known without. */
  readonly tools?: FindToolFacts;
  /** One of many appends in a row: until the last one less is indexed at a time. */
  readonly bulk?: "more" | "last" | undefined;
  /** Beside the search by words, where there is one. */
  readonly embedder?: EmbeddingModel;
  /** What that takes, and that it fails. */
  readonly onEmbedding?: OnEmbedding;
}

export interface Writer extends ThreadDeps {
  readonly lease: Lease;
  /** Whose lease it is, where appends may take it and give it back. */
  readonly claim?: ClaimedLease | undefined;
  /** The run that writes, if one does. */
  readonly runId: string | null;
}

/** What the keys of a thread's state hold. A feature adds its own by `declare module`, beside the code that writes it. */
export interface ThreadState {
  readonly title?: string;
  /** The thread whose files a fork still lacks. */
  readonly files?: { readonly copyFrom: string };
}

/** State is JSON that only code which declares its key writes: this is the one place that takes its word for it. */
export function threadState({ state }: Pick<Head, "state">): ThreadState {
  return state as ThreadState;
}

export const FILES_COPIED = { files: null };

export function filesToCopy(state: Head["state"]): string | null {
  return threadState({ state }).files?.copyFrom ?? null;
}

/** The deps with their defaults: the system's clock, random ids, SHA-256. */
export function threadDeps(store: Store, options: Partial<Omit<ThreadDeps, "store">> = {}): ThreadDeps {
  return {
    store,
    clock: options.clock ?? (() => new Date()),
    ids: options.ids ?? randomUUID,
    hash: options.hash ?? sha256,
    ...(options.tools && { tools: options.tools }),
    ...(options.embedder && { embedder: options.embedder }),
    ...(options.onEmbedding && { onEmbedding: options.onEmbedding }),
  };
}

export const sha256: Hash = (text) => digest("sha256", text, "hex");

export type Committed =
  | { readonly kind: "committed"; readonly head: Head; readonly seqs: readonly number[] }
  | Exclude<AppendResult, { kind: "appended" }>;

/** A record as its author knows it: time and run are the writer's. */
export type RecordInput = NewRecord extends infer R
  ? R extends NewRecord
    ? Omit<R, "at" | "runId"> & { at?: string }
    : never
  : never;

/** What somebody has read before deciding; if the log has moved on since, the commit is a conflict. */
interface Known {
  readonly head: Head;
  /** What the undos among the records have to know of the log. */
  readonly structure: readonly Structural[];
}

/** All of them or none. */
export async function commit(writer: Writer, inputs: readonly RecordInput[], state?: Known): Promise<Committed> {
  const { store, lease } = writer;
  const head = state?.head ?? (await store.head(lease.threadId));
  if (!head) return { kind: "missing" };
  const batch = await prepare(writer, head, inputs, state?.structure);
  const result = await store.append(lease.threadId, batch);
  if (result.kind !== "appended") return result;
  await keepIndexed(writer, lease.threadId, head.messages, batch.head.messages);
  return { kind: "committed", head: batch.head, seqs: batch.records.map((record) => record.seq) };
}

/** The batch that would append these records to a thread that stands at `head`. */
export async function prepare(
  writer: Writer,
  head: Head,
  inputs: readonly RecordInput[],
  known?: readonly Structural[],
): Promise<AppendBatch> {
  const { store, lease, runId } = writer;
  // Only an undo needs to know what came before the head.
  const undoes = inputs.some((input) => input.kind === "undo");
  const structure = known ?? (undoes ? await readStructure(store, lease.threadId) : []);
  return { expect: head.version, ...extend(writer, head, inputs, { runId, structure }), lease };
}

/** The records and the head that follow. `structure` is what came before, where an undo is among the inputs. */
export function extend(
  { clock, hash }: Pick<ThreadDeps, "clock" | "hash">,
  head: Head,
  inputs: readonly RecordInput[],
  { runId = null, structure = [] }: { readonly runId?: string | null; readonly structure?: readonly Structural[] } = {},
): { readonly records: readonly ChainedRecord[]; readonly head: Head } {
  const now = clock().toISOString();
  const records = chain(
    head,
    inputs.map((input) => ({ at: now, runId, ...input }) as NewRecord),
    hash,
  );
  const acts = [...structure];
  let next = head;
  for (const one of records) {
    const record = parseRecord(one);
    next = advance(next, one, record, acts);
    const act = structural(record);
    if (act) acts.push(act);
  }
  return { records, head: next };
}

export interface NewThread {
  readonly id: string;
  readonly agentName?: string;
  readonly kind?: "main" | "subagent";
  readonly memory?: "on" | "off";
  /** For a sub-agent: the thread that started it. */
  readonly parent?: string | null;
}

/**
 * For the store's user, with its first records, all at once. Throws for an id that may not name a thread; whoever takes
 * ids from people asks `checkThreadId` first.
 */
export async function createThread(
  deps: ThreadDeps,
  thread: NewThread,
  inputs: readonly RecordInput[] = [],
): Promise<"created" | "exists"> {
  assertThreadId(thread.id);
  const { store } = deps;
  const createdAt = deps.clock().toISOString();
  const header = {
    id: thread.id,
    user: store.userId,
    agent: thread.agentName ?? "default",
    parent: thread.parent ?? null,
    forkedAt: null,
    kind: thread.kind ?? "main",
    createdAt,
    memory: thread.memory ?? "on",
  } as const;
  const { head, records } = extend(deps, emptyHead(createdAt), inputs);
  const result = await store.createThread(header, head, records);
  if (result === "created") await keepIndexed(deps, thread.id, 0, head.messages);
  return result;
}

/** The last door: an id becomes part of paths, so none that climbs out may ever be stored. */
export function assertThreadId(id: string): void {
  const check = checkThreadId(id);
  if (check.kind === "invalid") throw new TypeError(check.problem);
}

// Reads the structure of a stored log: the few records that decide what the prompt shows, without the texts of
// summaries.

/** All of it. */
export async function readStructure(store: Store, threadId: string): Promise<Structural[]> {
  const acts = new Map<number, Structural>();
  await collectActs(store, threadId, ["compaction", "undo", "evidence"], {}, acts);
  return inOrder(acts);
}

/** What an undo of the newest prune or compaction has to know: it leaves what the live compaction folds. */
export async function structureForUndo(store: Store, threadId: string, { compaction }: Head): Promise<Structural[]> {
  const live = await compactionHeader(store, threadId, compaction);
  const folded = await compactionHeader(store, threadId, live?.folds ?? null);
  return structureSince(store, threadId, folded?.covers[1] ?? 0, [live?.seq, folded?.seq]);
}

/** What a redo has to know: the undo and what that took back. Behind a newer prune or compaction it may reach anywhere. */
export async function structureForRedo(store: Store, threadId: string, head: Head): Promise<Structural[]> {
  if (head.undone === null) return readStructure(store, threadId);
  const undos = new Map<number, Structural>();
  await collectActs(store, threadId, ["undo"], { seqs: [head.undone.seq - 1, head.undone.seq] }, undos);
  const targets = [...undos.values()].flatMap((act) => (act.kind === "undo" ? [act.of] : []));
  const later = new Map<number, Structural>();
  // Compactions that build on what comes back come back with it.
  const range = [Math.min(...targets), head.undone.seq] as const;
  await collectActs(store, threadId, ["compaction"], { range }, later);
  return structureSince(store, threadId, head.hiddenThrough, [head.compaction, ...targets, ...later.keys()]);
}

/**
 * The undos, prunes and evidence after `since`, and of the compactions only these: others that stand there were taken back.
 * Undone records from before, too, where an undo among these took them back; an undo is written only of what stands, so
 * nothing else needs to be known of them.
 */
async function structureSince(
  store: Store,
  threadId: string,
  since: number,
  compactions: readonly (number | null | undefined)[],
): Promise<Structural[]> {
  const acts = new Map<number, Structural>();
  await collectActs(store, threadId, ["undo", "evidence"], { range: [since + 1, Number.MAX_SAFE_INTEGER] }, acts);
  const older = (): number[] =>
    [...acts.values()].flatMap((act) => (act.kind === "undo" && act.of <= since && !acts.has(act.of) ? [act.of] : []));
  let seqs = [...compactions.filter((seq) => seq != null), ...older()];
  for (let size = -1; seqs.length > 0 && acts.size > size; seqs = older()) {
    size = acts.size;
    await collectActs(store, threadId, ["compaction", "undo"], { seqs }, acts);
  }
  return inOrder(acts);
}

function inOrder(acts: ReadonlyMap<number, Structural>): Structural[] {
  return [...acts.values()].sort((a, b) => a.seq - b.seq);
}

/** Records of these kinds, and prunes. */
async function collectActs(
  store: Store,
  threadId: string,
  kinds: readonly ("compaction" | "undo" | "evidence")[],
  query: RecordQuery,
  acts: Map<number, Structural>,
): Promise<void> {
  for await (const { chained } of store.records(threadId, { ...query, kinds, bodies: "none" })) {
    const header = parseHeader(chained);
    const act = header.kind === "prune" ? null : structural(header);
    if (act) acts.set(act.seq, act);
  }
  // How far a prune reaches stands in its body.
  for await (const { record } of store.records(threadId, { ...query, kinds: ["prune"] })) {
    const act = structural(record);
    if (act) acts.set(act.seq, act);
  }
}

async function compactionHeader(
  store: Store,
  threadId: string,
  seq: number | null,
): Promise<Extract<RecordHeader, { kind: "compaction" }> | null> {
  if (seq === null) return null;
  for await (const { chained } of store.records(threadId, {
    range: [seq, seq],
    kinds: ["compaction"],
    bodies: "none",
  })) {
    const header = parseHeader(chained);
    if (header.kind === "compaction") return header;
  }
  return null;
}

// Receipts of redactions, for forks. A fork shares its parent's records as they are now, erased ones included, but
// not the receipts that came after it left; without them its log would look tampered with. So it gets receipts of
// its own.

/** A record's new body, or its new header. */
export type SeqRewrite = { readonly seq: number } & Rewrite;

/** The receipt of these, for the log of a thread that shows them; none for nothing. */
export function receipts({ hash }: Pick<ThreadDeps, "hash">, rewrites: readonly SeqRewrite[]): RecordInput[] {
  const [first] = rewrites;
  if (first === undefined) return [];
  const bodies = rewrites.flatMap((one) => ("body" in one ? [{ seq: one.seq, hash: hash(one.body) }] : []));
  const headers = rewrites.flatMap((one) => ("header" in one ? [{ seq: one.seq, hash: hash(one.header) }] : []));
  const event = { type: "redacted", target: first.seq, bodies, ...(headers.length > 0 && { headers }) };
  return [{ kind: "event", event }];
}

/**
 * What a fork of `thread` at `at` must say of itself: receipts given later for records up to there. `readThrough`: the
 * caller knows that none stands up to that record.
 */
export async function receiptsSince(
  { store }: Pick<ThreadDeps, "store">,
  threadId: string,
  at: number,
  readThrough = at,
): Promise<RecordInput[]> {
  const due: RecordInput[] = [];
  for await (const { record } of store.records(threadId, {
    range: [Math.max(at, readThrough) + 1, Number.MAX_SAFE_INTEGER],
    kinds: ["event"],
  })) {
    if (record.kind !== "event" || record.event.type !== "redacted") continue;
    const event = record.event as unknown as RedactedEvent;
    const bodies = event.bodies.filter(({ seq }) => seq <= at);
    const headers = event.headers?.filter(({ seq }) => seq <= at) ?? [];
    if (bodies.length + headers.length === 0) continue;
    const { headers: _, ...rest } = event;
    due.push({ kind: "event", event: { ...rest, bodies, ...(headers.length > 0 && { headers }) } });
  }
  return due;
}

/**
 * Adds the receipts a fork still lacks because a redaction and the fork crossed. Both sides call this after they are
 * done, so that whichever came last sees the other.
 */
export async function settleReceipts(deps: ThreadDeps, fork: string, readThrough?: number): Promise<void> {
  const header = await deps.store.header(fork);
  if (!header || header.parent === null || header.forkedAt === null) return;
  const due = await receiptsSince(deps, header.parent, header.forkedAt, readThrough);
  if (due.length === 0) return;
  await withLease(deps.store, fork, { owner: deps.ids() }, async (lease) => {
    const ids = new Set<string>();
    const range = [header.forkedAt! + 1, Number.MAX_SAFE_INTEGER] as const;
    for await (const { record } of deps.store.records(fork, { range, kinds: ["event"] }))
      if (record.kind === "event") ids.add(JSON.stringify(record.event));
    const missing = due.filter((receipt) => receipt.kind === "event" && !ids.has(JSON.stringify(receipt.event)));
    if (missing.length === 0) return;
    await commit({ ...deps, lease, runId: null }, [...missing, ...(await stateAsLogged(deps, fork))]);
  });
}

/** The fork's head was made of what stood there before; what was erased of its state since must leave it, too. */
async function stateAsLogged({ store }: Pick<ThreadDeps, "store">, fork: string): Promise<RecordInput[]> {
  const fold = headFold("");
  for await (const { chained } of store.records(fork, { kinds: ["state"] })) fold.add(chained);
  const [logged, current] = [fold.head().state, (await store.head(fork))?.state ?? {}];
  const changed = Object.keys(current).filter((key) => JSON.stringify(logged[key]) !== JSON.stringify(current[key]));
  if (changed.length === 0) return [];
  // An erased memory block is rendered anew with the next turn.
  const patch = Object.fromEntries(changed.map((key) => [key, key === "memory" ? null : (logged[key] ?? null)]));
  return [{ kind: "state", patch }];
}

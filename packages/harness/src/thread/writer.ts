/**
 * Writing to one thread: with a store, a clock, ids and the hash, and under the thread's lease. `commit` is the only way records
 * get into a log: chain them, fold the head, compare and set.
 */
import { hash as digest, randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { PalimpsestError } from "@palimpsest/core/internal/errors";
import type { ChainedRecord, Hash, Head, NewRecord, Structural } from "@palimpsest/core/internal/log";
import { advance, chain, checkThreadId, emptyHead, parseRecord, structural } from "@palimpsest/core/internal/log";
import type { FindToolFacts } from "@palimpsest/core/internal/message";
import type { EmbeddingModel } from "ai";
import { indexAppended } from "../recall/catch-up.ts";
import type { OnEmbedding } from "../recall/embedder.ts";
import { scrub } from "../stores/driver-rules.ts";
import { heldText, type KeptLease, keepLease, withLease } from "../stores/leases.ts";
import type { AppendBatch, AppendResult, HeldLease, Lease, Store } from "../stores/store.ts";
import type { ThreadPlace } from "./log.ts";
import { readStructure, receipts } from "./structure.ts";
import { threadState } from "./thread-view.ts";

export interface ThreadDeps {
  readonly store: Store;
  readonly clock: () => Date;
  readonly ids: () => string;
  readonly hash: Hash;
  /** What the tools in its threads say of themselves; recall's own are known without. */
  readonly tools?: FindToolFacts | undefined;
  /** The run that writes, if one does: its records name it. */
  readonly runId?: string | null | undefined;
  /** One of many appends in a row: until the last one less is indexed at a time. */
  readonly bulk?: "more" | "last" | undefined;
  /** Beside the search by words, where there is one. */
  readonly embedder?: EmbeddingModel | undefined;
  /** What that takes, and that it fails. */
  readonly onEmbedding?: OnEmbedding | undefined;
}

/** Who may append to the lease's thread. */
export type Writer = ThreadDeps & Pick<KeptLease, "lease">;

export const FILES_COPIED = { files: null };

export function filesToCopy(state: Head["state"]): string | null {
  return threadState({ state }).files?.copyFrom ?? null;
}

export const sha256: Hash = (text) => digest("sha256", text, "hex");

/** The system's clock, random ids, SHA-256. */
export const SYSTEM_DEPS: Omit<ThreadDeps, "store"> = { clock: () => new Date(), ids: randomUUID, hash: sha256 };

/** The deps with their defaults. */
export function threadDeps(store: Store, options: Partial<Omit<ThreadDeps, "store">> = {}): ThreadDeps {
  const { clock, ids, hash } = SYSTEM_DEPS;
  return {
    store,
    clock: options.clock ?? clock,
    ids: options.ids ?? ids,
    hash: options.hash ?? hash,
    tools: options.tools,
    embedder: options.embedder,
    onEmbedding: options.onEmbedding,
  };
}

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

/** After this many new messages the index is brought up to date without waiting for a search. */
export const EAGER_MESSAGES = 128;

/** To be called after an append, with the thread's message counts: does nothing most of the time. */
export async function keepIndexed(deps: ThreadDeps, threadId: string, before: number, after: number): Promise<void> {
  const isDue = Math.floor(before / EAGER_MESSAGES) !== Math.floor(after / EAGER_MESSAGES);
  if (isDue || deps.bulk !== undefined) await indexAppended(deps, threadId, after - before);
}

/** The batch that would append these records to a thread that stands at `head`. */
export async function prepare(
  writer: Writer,
  head: Head,
  inputs: readonly RecordInput[],
  known?: readonly Structural[],
): Promise<AppendBatch> {
  const { store, lease } = writer;
  // Only an undo needs to know what came before the head.
  const undoes = inputs.some((input) => input.kind === "undo");
  const structure = known ?? (undoes ? await readStructure(store, lease.threadId) : []);
  return { expect: head.version, ...extend(writer, head, inputs, structure), lease };
}

/** The records and the head that follow. `structure` is what came before, where an undo is among the inputs. */
export function extend(
  { clock, hash, runId = null }: Pick<ThreadDeps, "clock" | "hash" | "runId">,
  head: Head,
  inputs: readonly RecordInput[],
  structure: readonly Structural[] = [],
): { readonly records: readonly ChainedRecord[]; readonly head: Head } {
  const now = clock().toISOString();
  const records = chain(
    head,
    inputs.map((input): NewRecord => ({ at: now, runId, ...input })),
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
  readonly agentName?: string | undefined;
  readonly kind?: "main" | "subagent" | undefined;
  readonly memory?: "on" | "off" | undefined;
  /** For a sub-agent: the thread that started it. */
  readonly parent?: string | null | undefined;
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

/** Erases bodies for good, with a receipt, and writes `inputs` in the same transaction. */
export async function eraseBodies(
  writer: Writer,
  erased: readonly { readonly seq: number; readonly body: string }[],
  state: { readonly head?: Head; readonly inputs?: readonly RecordInput[] } = {},
): Promise<Committed> {
  const { store, lease } = writer;
  const { threadId } = lease;
  const head = state.head ?? (await store.head(threadId));
  if (!head) return { kind: "missing" };
  const batch = await prepare(writer, head, [...receipts(writer, erased), ...(state.inputs ?? [])]);
  const result = await store.redact({
    bodies: erased.map((one) => ({ threadId, ...one })),
    batches: [{ threadId, batch }],
  });
  if (result.kind !== "appended") return result;
  await scrub(store);
  return { kind: "committed", head: batch.head, seqs: batch.records.map(({ seq }) => seq) };
}

// The lease of an open thread, and the turns of those who write under it.

type LogAct = <T>(work: () => Promise<T>) => Promise<T>;

export type ThreadLeases = ReturnType<typeof openLeases>;

/** The lease of a thread, and the turns of those who write under it. */
export function openLeases<M>(options: Pick<ThreadPlace<M>, "deps" | "id" | "lease" | "waitMs">) {
  const { deps, id, lease: given, waitMs = 0 } = options;
  const owner = deps.ids();
  let current: Lease = { threadId: id, owner, epoch: 0 };
  /** The lease that is held beyond a write. */
  let held: Pick<KeptLease, "lease" | "lost"> | null = typeof given === "string" ? null : given;
  let own: KeptLease | null = null;
  const claim = typeof given !== "string" && "append" in given ? given : null;
  const writer: Writer = {
    ...deps,
    get lease() {
      return held?.lease ?? current;
    },
  };
  const perWrite = async <T>(work: () => Promise<T>): Promise<T> => {
    const until = deps.clock().getTime() + waitMs;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const leased = await withLease(deps.store, id, { owner }, (lease) => {
        current = lease;
        return work();
      });
      if (leased.kind === "done") return leased.value;
      if (leased.kind === "missing") return gone(id);
      if (deps.clock().getTime() + pause > until) return stillBusy(id, leased);
      await wait(pause);
    }
  };
  return {
    /** Appends with the lease that is held at that time. */
    writer,
    isHeld: () => held !== null,
    /** Whether the first append is to take it. */
    isUntaken: () => claim?.isHeld() === false,
    append: (batch: AppendBatch, after: string): Promise<AppendResult> =>
      claim === null ? deps.store.append(id, batch) : claim.append(batch, after),
    during: inTurn((work) => {
      if (held === null) return perWrite(work);
      return held.lost.aborted ? takenOver(id) : work();
    }),
    async hold(): Promise<"held" | HeldLease | { readonly kind: "missing" }> {
      if (claim !== null) {
        const taken = await claim.take();
        return taken === "taken" ? "held" : taken;
      }
      const kept = await keepLease(deps.store, id, { owner: deps.ids() });
      if (kept.kind !== "kept") return kept;
      held = kept;
      own = kept;
      return "held";
    },
    /** Gives the lease back, if it is held by us: it is taken for each write then. */
    async release(): Promise<void> {
      const kept = own;
      if (kept === null) return;
      held = null;
      own = null;
      await kept.release();
    },
  };
}

const FIRST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 250;

/** One after the other, in the order they were asked for. */
function inTurn(act: LogAct): LogAct {
  let before: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = before.then(() => act(work));
    before = mine.catch(() => {});
    return mine;
  };
}

/** Calls one after the other; after the last one none is taken. */
export function callsOn(threadId: string) {
  const oneByOne = inTurn((work) => work());
  let closed: Promise<void> | null = null;
  const next = <T>(work: () => Promise<T>): Promise<T> => {
    if (closed !== null)
      return Promise.reject(new ThreadError("closed", `thread ${threadId} was closed: open it again`));
    return oneByOne(work);
  };
  return {
    next,
    last(work: () => Promise<void>): Promise<void> {
      closed ??= next(work);
      return closed;
    },
  };
}

function takenOver(threadId: string): never {
  throw new ThreadError("lease-lost", `thread ${threadId} was taken over by somebody else: open it again`);
}

export function gone(threadId: string): never {
  throw new ThreadError("missing", `thread ${threadId} was deleted while it was open: open it again to begin it anew`);
}

function stillBusy(threadId: string, held: HeldLease): never {
  throw new ThreadError(
    "busy",
    `thread ${threadId} is held by somebody else${heldText(held)}: nothing was written, try again later or give a longer waitMs`,
  );
}

// What an open thread throws.

export type ThreadErrorCode =
  /** Somebody else holds the thread, for longer than was waited. */
  | "busy"
  /** The thread was deleted while it was open. */
  | "missing"
  /** The thread was held, and taken over. */
  | "lease-lost"
  /** A message that its shape can't read. Nothing was written. */
  | "bad-message"
  | "closed";

export class ThreadError extends PalimpsestError<ThreadErrorCode> {
  static override readonly kind = "ThreadError";
}

/**
 * A writer is the right to append to one thread, with what that takes: its lease, a clock, ids, the hash. `commit` is the only
 * way records get into a log: chain them, fold the head, compare and set.
 */
import { hash as digest, randomUUID } from "node:crypto";
import { advance, chain, emptyHead, structural } from "@palimpsest/core/internal/log";
import {
  type ChainedRecord,
  checkThreadId,
  type Hash,
  type Head,
  type NewRecord,
  parseRecord,
  type Structural,
} from "@palimpsest/core/log";
import type { FindToolFacts } from "@palimpsest/core/message";
import type { EmbeddingModel } from "ai";
import { keepIndexed } from "../recall/catch-up.ts";
import type { OnEmbedding } from "../recall/embedder.ts";
import type { AppendBatch, AppendResult, Lease, Store } from "../stores/store.ts";
import { readStructure } from "./structure.ts";

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
  /** The run that writes, if one does. */
  readonly runId: string | null;
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

/**
 * What people and runs do to a thread, each one a record: say something, pin, undo, redo, fork. Each act decides purely
 * on what the log says and then commits, or names why not.
 */

import type {
  Head,
  LogRecord,
  MessageRecord,
  RulesByScope,
  Structural,
  UndoPlan,
  UsageRecord,
} from "@palimpsest/core/internal/log";
import { copyRules, headFold, planRedo, planUndo, readRules } from "@palimpsest/core/internal/log";
import type { Dialect } from "@palimpsest/core/internal/message";
import { type Leased, type LeaseOptions, withLease } from "../stores/leases.ts";
import { readStructure, receiptsSince, type SeqRewrite, structureForRedo, structureForUndo } from "./structure.ts";
import {
  assertThreadId,
  type Committed,
  commit,
  extend,
  type RecordInput,
  type ThreadDeps,
  type Writer,
} from "./writer.ts";

/** Holds the thread's lease while `work` runs. */
export function withWriter<T>(
  deps: ThreadDeps,
  threadId: string,
  work: (writer: Writer, signal: AbortSignal) => Promise<T>,
  { owner = deps.ids(), abandon }: Partial<Pick<LeaseOptions, "owner" | "abandon">> = {},
): Promise<Leased<T>> {
  return withLease(deps.store, threadId, { owner, abandon }, (lease, signal) => work({ ...deps, lease }, signal));
}

export interface NewMessage {
  readonly dialect: Dialect;
  readonly origin: MessageRecord["origin"];
  /** The message: JSON text is kept byte for byte, a value is spelled by `JSON.stringify`. */
  readonly body: string | object;
  readonly id?: string;
  readonly at?: string;
}

export async function appendMessages(writer: Writer, messages: readonly NewMessage[]): Promise<Committed> {
  return commit(
    writer,
    messages.map(({ body, id, at, ...rest }, index) => ({
      kind: "message",
      id: id ?? writer.ids(),
      ...rest,
      ...(at === undefined ? {} : { at }),
      body: typeof body === "string" ? checked(body, index) : JSON.stringify(body),
    })),
  );
}

export type NewUsage = Omit<UsageRecord, "kind" | "v" | "seq" | "at" | "runId"> & { readonly at?: string };

export async function appendUsage(writer: Writer, usage: NewUsage): Promise<Committed> {
  return commit(writer, [{ kind: "usage", ...usage }]);
}

/** Copies rules of other scopes into the thread; writes nothing where it has them as they are. */
export async function takeUpRules(writer: Writer, sources: RulesByScope): Promise<void> {
  const head = await writer.store.head(writer.lease.threadId);
  if (head === undefined) return;
  const rules = readRules(head.state);
  const now = copyRules(rules, sources, writer.clock().toISOString());
  if (now !== rules) await commit(writer, [{ kind: "state", patch: { rules: now } }]);
}

export type Pinned = Committed | { readonly kind: "no-message"; readonly target: number };

export async function pin(writer: Writer, target: number, on: "on" | "off" = "on"): Promise<Pinned> {
  for await (const { record } of writer.store.records(writer.lease.threadId, { range: [target, target] })) {
    if (record.kind === "message") return commit(writer, [{ kind: "pin", target, on: on === "on" }]);
  }
  return { kind: "no-message", target };
}

export type Undone =
  /** `dependents`: records that build on the one taken back and went with it. */
  | {
      readonly kind: "undone" | "redone";
      readonly of: number;
      readonly seq: number;
      readonly dependents: readonly number[];
    }
  | Extract<UndoPlan, { kind: "refused" }>
  | Exclude<Committed, { kind: "committed" }>;

/** Takes back the newest prune or compaction with what was written in one act with it, or the record asked for. */
export async function undo(writer: Writer, target?: number): Promise<Undone> {
  const { store, lease } = writer;
  const head = await store.head(lease.threadId);
  if (!head) return { kind: "missing" };
  const structure = await (target === undefined
    ? structureForUndo(store, lease.threadId, head)
    : readStructure(store, lease.threadId));
  const state = { head, structure };
  const plan = planUndo(structure, target);
  if (plan.kind === "refused" || target !== undefined || plan.restores !== "prune")
    return carryOut(writer, state, plan);
  const whole = await isOneAct(writer, plan.of - 1);
  return carryOut(writer, state, plan, whole ? planUndo(structure, plan.of - 1) : null);
}

/** Takes back the newest undo, and the one that was written with it. */
export async function redo(writer: Writer): Promise<Undone> {
  const { store, lease } = writer;
  const head = await store.head(lease.threadId);
  if (!head) return { kind: "missing" };
  const structure = await structureForRedo(store, lease.threadId, head);
  const plan = planRedo(structure);
  if (plan.kind === "refused") return plan;
  const [last, first] = [plan.of, plan.of - 1].map((seq) => structure.find((act) => act.seq === seq));
  const paired = last?.kind === "undo" && first?.kind === "undo" && first.of === last.of + 1;
  const whole = paired && (await isOneAct(writer, last.of));
  return carryOut(writer, { head, structure }, plan, whole ? planUndo(structure, plan.of - 1) : null);
}

/** A compaction that also had to shorten what stays is two records, one after the other, with the same figures. */
async function isOneAct({ store, lease }: Writer, compaction: number): Promise<boolean> {
  const range = [compaction, compaction + 1] as const;
  const records: LogRecord[] = [];
  for await (const { record } of store.records(lease.threadId, { range })) records.push(record);
  const [first, second] = records;
  if (first?.kind !== "compaction" || second?.kind !== "prune") return false;
  return first.tokensBefore === second.tokensBefore && first.tokensAfter === second.tokensAfter;
}

/** `also` goes with it in one append; where it can't, it is left as it is. */
async function carryOut(
  writer: Writer,
  state: { readonly head: Head; readonly structure: readonly Structural[] },
  plan: UndoPlan,
  also: UndoPlan | null = null,
): Promise<Undone> {
  if (plan.kind === "refused") return plan;
  const seqs = [plan.of, ...(also?.kind === "undo" ? [also.of] : [])];
  const result = await commit(
    writer,
    seqs.map((of) => ({ kind: "undo", of })),
    state,
  );
  if (result.kind !== "committed") return result;
  const redone = plan.restores === "undo";
  // What a person knows it by: the compaction, or the undo of it.
  const { dependents } = plan;
  const of = redone ? plan.of : seqs.at(-1)!;
  return { kind: redone ? "redone" : "undone", of, seq: result.seqs.at(-1)!, dependents };
}

export type Forked =
  | { readonly kind: "forked"; readonly threadId: string; readonly parent: string; readonly at: number }
  | { readonly kind: "exists" | "missing" | "beyond-end"; readonly threadId: string };

/** `readThrough`: up to there nothing of the thread was erased. Null: only the log can tell. */
interface HeadsAt {
  at(seq: number, version: number): Promise<{ readonly head: Head; readonly readThrough: number } | null>;
}

interface ForkOptions {
  readonly as: string;
  readonly at?: number;
  readonly state?: Head["state"];
  /** Reads the parent's heads, where it is forked many times; `headAt` otherwise. */
  readonly headsAt?: HeadsAt | undefined;
}

/** A new thread that shares the parent's records up to `at`, by default all of them, and starts with a state of its own. Nothing is copied. */
export async function fork(deps: ThreadDeps, from: string, { as, at, state, headsAt }: ForkOptions): Promise<Forked> {
  const { store } = deps;
  assertThreadId(as);
  const [parent, now] = [await store.header(from), await store.head(from)];
  if (!parent || !now) return { kind: "missing", threadId: from };
  const seq = at ?? now.version;
  if (!Number.isInteger(seq) || seq < 0 || seq > now.version) return { kind: "beyond-end", threadId: from };
  const header = { ...parent, id: as, parent: from, forkedAt: seq, createdAt: deps.clock().toISOString() };
  const known = (await headsAt?.at(seq, now.version)) ?? null;
  const start = known?.head ?? (seq === now.version ? now : await headAt(deps, from, seq));
  const own: RecordInput[] = state === undefined ? [] : [{ kind: "state", patch: state }];
  const receipts = await receiptsSince(deps, from, seq, known?.readThrough);
  const { records, head } = extend(deps, start, [...receipts, ...own]);
  const result = await store.fork({ from, at: seq, header, head, records });
  if (result !== "created") return { kind: result, threadId: result === "exists" ? as : from };
  await settleReceipts(deps, as, known?.readThrough);
  return { kind: "forked", threadId: as, parent: from, at: seq };
}

/** The head as it was when the log ended at `seq`. Seqs have no gaps, so messages are counted without being read. */
export async function headAt({ store }: Pick<ThreadDeps, "store">, threadId: string, seq: number): Promise<Head> {
  const fold = headFold((await store.header(threadId))?.createdAt ?? "");
  if (seq === 0) return fold.head();
  let others = 0;
  for await (const { chained } of store.records(threadId, { range: [1, seq], kinds: OTHER_KINDS })) {
    fold.add(chained);
    others += 1;
  }
  let end: Pick<Head, "version" | "hash" | "updatedAt"> = fold.head();
  for await (const { chained } of store.records(threadId, { range: [seq, seq] }))
    end = { version: seq, hash: chained.hash, updatedAt: chained.at };
  return { ...fold.head(), ...end, messages: seq - others };
}

export const OTHER_KINDS = [
  "prune",
  "compaction",
  "pin",
  "undo",
  "usage",
  "evidence",
  "state",
  "event",
] as const satisfies Exclude<LogRecord["kind"], "message">[];

function checked(json: string, index: number): string {
  try {
    JSON.parse(json);
    return json;
  } catch (cause) {
    throw new TypeError(`message ${index + 1} of the batch is not JSON: pass JSON text or an object`, { cause });
  }
}

/** The chain's hash at a record: two logs that have the same there are the same up to it. */
export async function hashAt(store: ThreadDeps["store"], threadId: string, seq: number): Promise<string | undefined> {
  for await (const { chained } of store.records(threadId, { range: [seq, seq] })) return chained.hash;
  return undefined;
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
    await commit({ ...deps, lease }, [...missing, ...(await stateAsLogged(deps, fork))]);
  });
}

export type StatePatchInput = Extract<RecordInput, { kind: "state" }>;

/** The head was made of what stood there before; what was erased of its state must leave it, too. */
export async function stateAsLogged(
  { store }: Pick<ThreadDeps, "store">,
  threadId: string,
  rewrites: readonly SeqRewrite[] = [],
): Promise<StatePatchInput[]> {
  const bodies = new Map(rewrites.flatMap((one) => ("body" in one ? [[one.seq, one.body] as const] : [])));
  const fold = headFold("");
  for await (const { chained } of store.records(threadId, { kinds: ["state"] }))
    fold.add({ ...chained, body: bodies.get(chained.seq) ?? chained.body });
  const [logged, current] = [fold.head().state, (await store.head(threadId))?.state ?? {}];
  const changed = Object.keys(current).filter((key) => JSON.stringify(logged[key]) !== JSON.stringify(current[key]));
  if (changed.length === 0) return [];
  // An erased memory block is rendered anew with the next turn.
  const patch = Object.fromEntries(changed.map((key) => [key, key === "memory" ? null : (logged[key] ?? null)]));
  return [{ kind: "state", patch }];
}

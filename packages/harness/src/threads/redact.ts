/**
 * Erasing one message for good: its body becomes a skeleton, what quotes it is rewritten, and a receipt goes into the
 * log of every thread that shows the record, forks included. The chain stays whole because it never held the body.
 */
import {
  type CompactionRecord,
  type Erasure,
  erase,
  type Head,
  type MessageRecord,
  type StateRecord,
  type StoredSummary,
  skeleton,
} from "@palimpsest/core/log";
import { type Part, type Shape, shapeOf } from "@palimpsest/core/message";
import { withLease } from "../stores/leases.ts";
import type { Lease, RedactRequest } from "../stores/store.ts";
import { settleReceipts } from "./receipts.ts";
import { isTitleOf } from "./title.ts";
import { type Draft, type Means, prepare, type Writer } from "./writer.ts";

export interface RedactOptions {
  /** How a summary that covers the message is rewritten; by default nothing of it stays. */
  readonly rewriteSummary?: (record: CompactionRecord) => StoredSummary;
  readonly owner?: string;
}

export type Redacted =
  | { readonly kind: "redacted"; readonly seq: number; readonly bodies: number; readonly threads: readonly string[] }
  | { readonly kind: "already-redacted" | "no-message"; readonly seq: number }
  | { readonly kind: "busy"; readonly thread: string; readonly owner: string; readonly expiresAt: string }
  | { readonly kind: "missing" | "lease-lost" | "conflict" };

export async function redact(
  means: Means,
  thread: string,
  seq: number,
  options: RedactOptions = {},
): Promise<Redacted> {
  if (!(await means.store.header(thread))) return { kind: "missing" };
  const found = await findMessage(means, thread, seq);
  if (!found) return { kind: "no-message", seq };
  if (found.redacted) return { kind: "already-redacted", seq };
  const threads = await means.store.sharers(thread, seq);
  const result = await holding(means, threads, options.owner ?? means.ids(), (leases) =>
    carryOut(means, leases, found.record, options),
  );
  // A fork made meanwhile shares the erased record and was not among those that got a receipt.
  for (const late of await means.store.sharers(thread, seq)) {
    if (result.kind === "redacted" && !threads.includes(late)) await settleReceipts(means, late);
  }
  return result;
}

async function carryOut(
  means: Means,
  leases: readonly Lease[],
  message: MessageRecord,
  options: RedactOptions,
): Promise<Redacted> {
  const { erasure, body } = planErasure(message, options);
  const bodies: RedactRequest["bodies"][number][] = [];
  const batches: RedactRequest["batches"][number][] = [];
  for (const lease of leases) {
    const writer: Writer = { ...means, lease, runId: null };
    const own = [{ thread: lease.thread, seq: message.seq, body }];
    for await (const { record, chained } of means.store.records(lease.thread, { kinds: QUOTING })) {
      // Before format 2 a title stood in the header, which is chained word for word.
      if (chained.body === null) continue;
      const rewritten = record.kind === "state" ? eraseTitle(record.patch, erasure) : erase(record, erasure);
      if (rewritten !== null) own.push({ thread: lease.thread, seq: record.seq, body: rewritten });
    }
    const receipt = own.map((one) => ({ seq: one.seq, hash: means.hash(one.body) }));
    const head = await means.store.head(lease.thread);
    if (!head) return { kind: "missing" };
    const event = { type: "redacted", target: message.seq, bodies: receipt };
    const drafts: Draft[] = [{ kind: "event", event }, ...titleErased(head, erasure)];
    batches.push({ thread: lease.thread, batch: await prepare(writer, head, drafts) });
    bodies.push(...own);
  }
  // What is being prepared may quote it.
  for (const { thread } of leases) await means.store.drafts.drop(thread);
  const result = await means.store.redact({ bodies, batches });
  if (result.kind !== "appended") return { kind: result.kind };
  return {
    kind: "redacted",
    seq: message.seq,
    bodies: batches[0] ? bodies.filter((one) => one.thread === leases[0]!.thread).length : 0,
    threads: leases.map((lease) => lease.thread),
  };
}

const ERASED = "[redacted]";
const QUOTING = ["compaction", "prune", "evidence", "state"] as const;

/** A title is made of the user's first words, so it may be made of these. */
function titleErased({ state }: Head, { texts }: Erasure): Draft[] {
  return isTitleOf(state["title"], texts.join(" ")) ? [{ kind: "state", patch: { title: ERASED } }] : [];
}

function eraseTitle(patch: StateRecord["patch"], { texts }: Erasure): string | null {
  return isTitleOf(patch["title"], texts.join(" ")) ? JSON.stringify({ ...patch, title: ERASED }) : null;
}

function planErasure(message: MessageRecord, options: RedactOptions): { erasure: Erasure; body: string } {
  const shape = shapeOf(message.dialect) as Shape<unknown>;
  const value: unknown = JSON.parse(message.body);
  const parts = shape.parts(value);
  const { rewriteSummary } = options;
  return {
    body: JSON.stringify(skeleton(shape, value)),
    erasure: {
      seq: message.seq,
      id: message.id,
      texts: parts.flatMap(textsOf),
      ...(rewriteSummary ? { rewriteSummary } : {}),
    },
  };
}

function textsOf(part: Part): string[] {
  switch (part.kind) {
    case "text":
    case "reasoning":
    case "result":
      return [part.text];
    case "call":
      return [part.input];
    default:
      return [];
  }
}

async function findMessage({ store }: Means, thread: string, seq: number) {
  for await (const { record, redacted } of store.records(thread, { range: [seq, seq] })) {
    if (record.kind === "message") return { record, redacted };
  }
  return undefined;
}

/** Takes the leases one inside the other, so that all are given back whatever happens. */
async function holding(
  means: Means,
  threads: readonly string[],
  owner: string,
  work: (leases: readonly Lease[]) => Promise<Redacted>,
  held: readonly Lease[] = [],
): Promise<Redacted> {
  const [next, ...rest] = threads;
  if (next === undefined) return work(held);
  const result = await withLease(means.store, next, { owner }, (lease) =>
    holding(means, rest, owner, work, [...held, lease]),
  );
  if (result.kind === "done") return result.value;
  return result.kind === "busy" ? { ...result, thread: next } : { kind: "missing" };
}

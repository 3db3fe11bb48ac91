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
  | {
      readonly kind: "redacted";
      readonly seq: number;
      readonly bodies: number;
      /** Every thread that shows the message. */
      readonly threads: readonly string[];
      /** Other threads of the user, in which it was lent as evidence; that is erased, too. */
      readonly lentTo: readonly string[];
    }
  | { readonly kind: "already-redacted" | "no-message"; readonly seq: number }
  | { readonly kind: "busy"; readonly thread: string; readonly owner: string; readonly expiresAt: string }
  | { readonly kind: "missing" | "lease-lost" | "conflict" };

export async function redact(
  means: Means,
  thread: string,
  seq: number,
  options: RedactOptions = {},
): Promise<Redacted> {
  const header = await means.store.header(thread);
  if (!header) return { kind: "missing" };
  const found = await findMessage(means, thread, seq);
  if (!found) return { kind: "no-message", seq };
  if (found.redacted) return { kind: "already-redacted", seq };
  const threads = await means.store.sharers(thread, seq);
  const refs = threads.map((sharer) => `${sharer}#${seq}`);
  const lentTo = (await borrowers(means, header.user, refs)).filter((one) => !threads.includes(one));
  const result = await holding(means, [...threads, ...lentTo], options.owner ?? means.ids(), (leases) =>
    carryOut(means, leases, planErasure(found.record, refs, options), { threads, lentTo }),
  );
  if (result.kind !== "redacted") return result;
  // A fork made meanwhile shares the erased records and was not among those that got a receipt.
  const now = new Set([...(await means.store.sharers(thread, seq)), ...(await borrowers(means, header.user, refs))]);
  for (const late of now) if (![...threads, ...lentTo].includes(late)) await settleReceipts(means, late);
  return result;
}

/** Threads of the user with evidence that names one of the addresses. */
async function borrowers({ store }: Means, user: string, refs: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await store.threads({ user, limit: 200, order: "created", ...(after !== undefined && { after }) });
    for (const { header } of page.threads) {
      for await (const { record } of store.records(header.id, { kinds: ["evidence"] })) {
        if (record.kind !== "evidence" || !record.ids.some((id) => refs.includes(id))) continue;
        found.push(header.id);
        break;
      }
    }
    if (page.next === null) return found;
    after = page.next;
  }
}

async function carryOut(
  means: Means,
  leases: readonly Lease[],
  { erasure, body }: ReturnType<typeof planErasure>,
  { threads, lentTo }: { readonly threads: readonly string[]; readonly lentTo: readonly string[] },
): Promise<Redacted> {
  const { seq } = erasure;
  const bodies: RedactRequest["bodies"][number][] = [];
  const batches: RedactRequest["batches"][number][] = [];
  for (const lease of leases) {
    const { thread } = lease;
    const shares = threads.includes(thread);
    const quoting = await quotingBodies(means, thread, shares ? erasure : { ...erasure, seq: NOT_HERE });
    const own = shares ? [{ thread, seq, body }, ...quoting] : quoting;
    const receipt = own.map((one) => ({ seq: one.seq, hash: means.hash(one.body) }));
    const head = await means.store.head(thread);
    if (!head) return { kind: "missing" };
    if (own.length === 0) continue;
    const event = { type: "redacted", target: own[0]!.seq, bodies: receipt };
    const drafts: Draft[] = [{ kind: "event", event }, ...(shares ? titleErased(head, erasure) : [])];
    batches.push({ thread, batch: await prepare({ ...means, lease, runId: null } satisfies Writer, head, drafts) });
    bodies.push(...own);
  }
  // What is being prepared may quote it.
  for (const { thread } of leases) await means.store.drafts.drop(thread);
  const result = await means.store.redact({ bodies, batches });
  if (result.kind !== "appended") return { kind: result.kind };
  return {
    kind: "redacted",
    seq,
    bodies: bodies.filter(({ thread }) => thread === threads[0]).length,
    threads,
    lentTo,
  };
}

/** In a thread that was only lent the message its number says nothing. */
const NOT_HERE = 0;

async function quotingBodies({ store }: Means, thread: string, erasure: Erasure): Promise<RedactRequest["bodies"]> {
  const found: RedactRequest["bodies"][number][] = [];
  const kinds = erasure.seq === NOT_HERE ? (["evidence"] as const) : QUOTING;
  for await (const { record, chained } of store.records(thread, { kinds })) {
    // Before format 2 a title stood in the header, which is chained word for word.
    if (chained.body === null) continue;
    const rewritten = record.kind === "state" ? eraseTitle(record.patch, erasure) : erase(record, erasure);
    if (rewritten !== null) found.push({ thread, seq: record.seq, body: rewritten });
  }
  return found;
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

function planErasure(
  message: MessageRecord,
  refs: readonly string[],
  options: RedactOptions,
): { erasure: Erasure; body: string } {
  const shape = shapeOf(message.dialect) as Shape<unknown>;
  const value: unknown = JSON.parse(message.body);
  const parts = shape.parts(value);
  const { rewriteSummary } = options;
  return {
    body: JSON.stringify(skeleton(shape, value)),
    erasure: {
      seq: message.seq,
      id: message.id,
      refs,
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

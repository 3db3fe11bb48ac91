/**
 * Receipts of redactions, for forks. A fork shares its parent's records as they are now, erased ones included, but not
 * the receipts that came after it left; without them its log would look tampered with. So it gets receipts of its own.
 */
import { headFold } from "@palimpsest/core/internal/log";
import type { RedactedEvent, Rewrite } from "@palimpsest/core/log";
import { withLease } from "../stores/leases.ts";
import { commit, type RecordInput, type ThreadDeps } from "./writer.ts";

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

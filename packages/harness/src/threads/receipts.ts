/**
 * Receipts of redactions, for forks. A fork shares its parent's records as they are now, erased ones included, but not
 * the receipts that came after it left; without them its log would look tampered with. So it gets receipts of its own.
 */
import type { RedactedEvent } from "@palimpsest/core/log";
import { withLease } from "../stores/leases.ts";
import { commit, type Draft, type Means } from "./writer.ts";

/** What a fork of `thread` at `at` must say of itself: receipts given later for records up to there. */
export async function receiptsSince({ store }: Pick<Means, "store">, thread: string, at: number): Promise<Draft[]> {
  const receipts: Draft[] = [];
  for await (const { record } of store.records(thread, {
    range: [at + 1, Number.MAX_SAFE_INTEGER],
    kinds: ["event"],
  })) {
    if (record.kind !== "event" || record.event.type !== "redacted") continue;
    const event = record.event as unknown as RedactedEvent;
    const bodies = event.bodies.filter(({ seq }) => seq <= at);
    if (bodies.length > 0) receipts.push({ kind: "event", event: { ...event, bodies } });
  }
  return receipts;
}

/**
 * Adds the receipts a fork still lacks because a redaction and the fork crossed. Both sides call this after they are
 * done, so that whichever came last sees the other.
 */
export async function settleReceipts(means: Means, fork: string): Promise<void> {
  const header = await means.store.header(fork);
  if (!header || header.parent === null || header.forkedAt === null) return;
  const due = await receiptsSince(means, header.parent, header.forkedAt);
  if (due.length === 0) return;
  await withLease(means.store, fork, { owner: means.ids() }, async (lease) => {
    const known = new Set<string>();
    const range = [header.forkedAt! + 1, Number.MAX_SAFE_INTEGER] as const;
    for await (const { record } of means.store.records(fork, { range, kinds: ["event"] }))
      if (record.kind === "event") known.add(JSON.stringify(record.event));
    const missing = due.filter((draft) => draft.kind === "event" && !known.has(JSON.stringify(draft.event)));
    if (missing.length === 0) return;
    await commit({ ...means, lease, runId: null }, [...missing, ...(await titleAsLogged(means, fork))]);
  });
}

/** The fork's head was made of what stood there before; a title that was erased since must leave it, too. */
async function titleAsLogged({ store }: Pick<Means, "store">, fork: string): Promise<Draft[]> {
  let title: unknown = null;
  for await (const { record } of store.records(fork, { kinds: ["state"] }))
    if (record.kind === "state" && record.patch["title"] !== undefined) title = record.patch["title"];
  const shown = (await store.head(fork))?.state["title"] ?? null;
  return title === shown ? [] : [{ kind: "state", patch: { title } }];
}

/**
 * The structure of a stored log: the few records that decide what the prompt shows, without the texts of summaries. And the
 * receipts of what was erased, which a fork must have as well as the thread it shares records with.
 */
import {
  type Head,
  isRedactedEvent,
  parseHeader,
  type RecordHeader,
  type Rewrite,
  type Structural,
  structural,
} from "@palimpsest/core/internal/log";
import type { RecordQuery, Store } from "../stores/store.ts";
import type { RecordInput, ThreadDeps } from "./writer.ts";

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
    if (record.kind !== "event") continue;
    const event: unknown = record.event;
    if (!isRedactedEvent(event)) continue;
    const bodies = event.bodies.filter(({ seq }) => seq <= at);
    const headers = event.headers?.filter(({ seq }) => seq <= at) ?? [];
    if (bodies.length + headers.length === 0) continue;
    const { headers: _, ...rest } = event;
    due.push({ kind: "event", event: { ...rest, bodies, ...(headers.length > 0 && { headers }) } });
  }
  return due;
}

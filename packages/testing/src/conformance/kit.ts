/** What the cases share: a fresh thread with a writer, and short ways to say and read things. */
import assert from "node:assert/strict";
import type { CompactionRecord, Head, PruneRecord } from "@palimpsest/core/internal/log";
import { LEASE_TTL_MS } from "palimpsest/internal/stores";
import { commit, createThread, rebuildHead } from "palimpsest/internal/threads";
import type { Committed, ThreadDeps, Writer } from "palimpsest/session";
import { appendMessages, threadDeps, verify } from "palimpsest/session";
import type { Capability, Lease, Store } from "palimpsest/stores";

export interface Suite<S extends Store = Store> {
  readonly store: () => S;
  /** A second connection to the same database; the case closes it. */
  readonly connect: () => Promise<S>;
}

/** Cases by title: what must hold of any store, or of any that has a capability. */
export type Cases<S extends Suite = Suite> = Readonly<Record<string, (suite: S) => Promise<void>>>;

export type CasesWith<C extends Capability> = Cases<Suite<Store & Required<Pick<Store, C>>>>;

let threadCount = 0;

/** Threads of one database must not meet: every case takes fresh names. */
export function freshId(): string {
  threadCount += 1;
  return `t${process.pid}-${threadCount}`;
}

/** A clock that moves a second with every look, so that order is visible and nothing depends on the time of day. */
export function steppingDeps(store: Store): ThreadDeps {
  let now = Date.UTC(2026, 0, 1);
  return threadDeps(store, {
    clock: () => {
      now += 1000;
      return new Date(now);
    },
  });
}

export async function lease(store: Store, threadId: string, owner = "owner"): Promise<Lease> {
  const result = await store.acquireLease(threadId, owner, LEASE_TTL_MS);
  assert.equal(result.kind, "acquired");
  return (result as { lease: Lease }).lease;
}

export async function freshThread(store: Store): Promise<Writer> {
  const id = freshId();
  const own = steppingDeps(store);
  assert.equal(await createThread(own, { id }), "created");
  return { ...own, lease: await lease(store, id) };
}

/** Of a thread that is there. */
export async function headOf(store: Store, threadId: string): Promise<Head> {
  const head = await store.head(threadId);
  assert.ok(head);
  return head;
}

export async function writerOf(deps: ThreadDeps, threadId: string): Promise<Writer> {
  return { ...deps, lease: await lease(deps.store, threadId) };
}

export function say(writer: Writer, ...texts: string[]): Promise<Committed> {
  return appendMessages(
    writer,
    texts.map((content) => ({ dialect: "openai", origin: "user", body: { role: "user", content } })),
  );
}

export function compact(writer: Writer, fields: Pick<CompactionRecord, "covers" | "folds"> & { request?: number }) {
  return commit(writer, [
    {
      kind: "compaction",
      request: null,
      systems: [],
      summary: { format: "user", text: "what was said", digest: null, state: { facts: ["a fact"] } },
      rung: "extract",
      reason: "test",
      tokensBefore: 100,
      tokensAfter: 10,
      archive: null,
      ...fields,
    },
  ]);
}

export function prune(writer: Writer, ...targets: number[]) {
  const entries = targets.map((target): PruneRecord["entries"][number] => ({
    target,
    part: 0,
    replacement: "(shortened)",
    reason: "stale-output",
  }));
  return commit(writer, [{ kind: "prune", entries, tokensBefore: 100, tokensAfter: 50 }]);
}

export function seqOf(result: Committed): number {
  assert.equal(result.kind, "committed", JSON.stringify(result));
  return (result as Extract<Committed, { kind: "committed" }>).seqs[0]!;
}

export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of source) all.push(one);
  return all;
}

export async function textsOf(store: Store, threadId: string): Promise<string[]> {
  const found = await collect(store.records(threadId, { kinds: ["message"] }));
  return found.map(({ record }) => JSON.parse((record as { body: string }).body).content as string);
}

/** The two things that must hold after anything: the chain is whole and the head is what the log says. */
export async function assertSound(deps: ThreadDeps, threadId: string): Promise<void> {
  const verdict = await verify(deps, threadId);
  assert.equal(verdict.kind, "whole", JSON.stringify(verdict));
  const rebuilt = await rebuildHead(deps, threadId);
  assert.equal(rebuilt.kind, "equal", JSON.stringify(rebuilt));
}

/**
 * A thread's files beside its log: brought in line with what the log still says after something was erased, and removed
 * with the thread. Both can be run again after a crash and then complete what was begun.
 */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Shape, shapeOf } from "@palimpsest/core/message";
import { repairParts } from "../compaction/part-files.ts";
import { threadFolder } from "../home-folders.ts";
import { scrub } from "../stores/capabilities.ts";
import { withLease } from "../stores/leases.ts";
import type { Scrubbed, Store } from "../stores/store.ts";
import { everyThread } from "../stores/users.ts";
import { delegationsOf } from "../subagents/delegations.ts";
import { eraseEvidence } from "../threads/redact.ts";
import type { ThreadDeps } from "../threads/writer.ts";
import { storedNames } from "../tool-output/stored-output.ts";
import { threadWorkspace } from "../workspace/workspace.ts";

/** Part files as the log has them now, and no stored output or answer of which the log no longer says anything. */
export async function cleanThreadFiles(base: string, store: Store, thread: string): Promise<void> {
  const head = await store.head(thread);
  if (head === undefined) return;
  const { history, "tool-outputs": outputs } = threadWorkspace(base, { user: store.user, id: thread }).roots;
  await repairParts(history.directory, store, thread, head.compaction);
  const present = await readdir(outputs.directory).catch(() => [] as string[]);
  if (present.length === 0) return;
  const gone = await unspoken(store, thread, present);
  for (const name of gone) await rm(join(outputs.directory, name), { force: true });
}

/** Names of files whose result was erased. An output is named by the prune that put it there, an answer by its delegation. */
async function unspoken(store: Store, thread: string, present: readonly string[]): Promise<string[]> {
  const named = new Set<string>();
  const erased = new Set<string>();
  for await (const { record, redacted } of store.records(thread, { kinds: ["prune", "message"] })) {
    if (record.kind === "prune")
      for (const { replacement } of record.entries) for (const name of storedNames(replacement)) named.add(name);
    if (record.kind !== "message" || !redacted) continue;
    const shape = shapeOf(record.dialect) as Shape<unknown>;
    for (const call of shape.answers(JSON.parse(record.body))) erased.add(call);
  }
  const delegations = delegationsOf((await store.head(thread))?.state ?? {});
  const answers = delegations.filter(({ id }) => erased.has(id)).map(({ threadId }) => `${threadId}.md`);
  const outputs = present.filter((name) => storedNames(`tool-outputs/${name}`).length > 0);
  return [...outputs.filter((name) => !named.has(name)), ...present.filter((name) => answers.includes(name))];
}

export type DeletedThread =
  | { readonly kind: "deleted"; readonly scrubbed: Scrubbed }
  | { readonly kind: "busy"; readonly thread: string; readonly expiresAt?: string }
  | { readonly kind: "missing" };

/**
 * With the evidence that other threads got from it, and with its sub-agents' threads. The thread itself goes last: whoever is killed
 * in between leaves one that can be deleted again, never files or quotes without one. What was learned from it stays.
 */
export async function deleteThreadWithFiles(deps: ThreadDeps, base: string, thread: string): Promise<DeletedThread> {
  const { store } = deps;
  const head = await store.head(thread);
  if (head === undefined) return { kind: "missing" };
  const names = new Set(Array.from({ length: head.version }, (_, index) => `${thread}#${index + 1}`));
  const [borrower] = (await eraseEvidence(deps, names)).busy;
  if (borrower !== undefined) return { kind: "busy", thread: borrower };
  for (const child of await childrenOf(store, thread)) {
    const result = await deleteThreadWithFiles(deps, base, child);
    if (result.kind === "busy") return result;
  }
  const held = await withLease(store, thread, { owner: deps.ids() }, async (lease) => {
    await rm(threadFolder(base, { user: store.user, id: thread }), { recursive: true, force: true });
    return store.deleteThread(thread, lease);
  });
  if (held.kind === "missing") return held;
  if (held.kind === "busy") return { kind: "busy", thread, expiresAt: held.expiresAt };
  if (held.value !== "deleted") return { kind: held.value, thread };
  return { kind: "deleted", scrubbed: await scrub(store) };
}

/** Its sub-agents' threads; none while a fork still shows what they did. */
async function childrenOf(store: Store, thread: string): Promise<string[]> {
  const children: string[] = [];
  for await (const { header } of everyThread(store)) {
    if (header.parent !== thread) continue;
    if (header.forkedAt !== null) return [];
    children.push(header.id);
  }
  return children;
}

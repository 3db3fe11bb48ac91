/** Deleting a thread with all that would be left of it elsewhere. Can be run again after a crash, and then completes what was begun. */
import type { ThreadName } from "@palimpsest/core/log";
import { scrub } from "../stores/capabilities.ts";
import { withLease } from "../stores/leases.ts";
import type { Scrubbed, Store } from "../stores/store.ts";
import { everyThread } from "../stores/users.ts";
import type { FileCopier } from "./fork-files.ts";
import { eraseEvidence } from "./redact.ts";
import type { ThreadDeps } from "./writer.ts";

export type DeletedThread =
  | { readonly kind: "deleted"; readonly scrubbed: Scrubbed }
  | { readonly kind: "busy"; readonly threadId: string; readonly renewedAt?: string; readonly expiresAt?: string }
  | { readonly kind: "missing" };

/**
 * With the evidence that other threads got from it, and with its sub-agents' threads. The thread itself goes last: whoever is killed
 * in between leaves one that can be deleted again, never files or quotes without one. What was learned from it stays.
 */
export async function deleteThread(
  deps: ThreadDeps,
  threadId: string,
  files: Pick<FileCopier, "remove"> | null,
): Promise<DeletedThread> {
  const { store } = deps;
  const head = await store.head(threadId);
  if (head === undefined) return { kind: "missing" };
  const names = new Set(Array.from({ length: head.version }, (_, index) => `${threadId}#${index + 1}`));
  const [borrower] = (await eraseEvidence(deps, names)).busy;
  if (borrower !== undefined) return { kind: "busy", threadId: borrower };
  for (const child of await childrenOf(store, threadId)) {
    const result = await deleteThread(deps, child, files);
    if (result.kind === "busy") return result;
  }
  const name: ThreadName = { user: store.userId, id: threadId };
  const held = await withLease(store, threadId, { owner: deps.ids() }, async (lease) => {
    await files?.remove(name);
    return store.deleteThread(threadId, lease);
  });
  if (held.kind === "missing") return held;
  if (held.kind === "busy") return { kind: "busy", threadId, renewedAt: held.renewedAt, expiresAt: held.expiresAt };
  if (held.value !== "deleted") return { kind: held.value, threadId };
  return { kind: "deleted", scrubbed: await scrub(store) };
}

/** Its sub-agents' threads; none while a fork still shows what they did. */
async function childrenOf(store: Store, threadId: string): Promise<string[]> {
  const children: string[] = [];
  for await (const { header } of everyThread(store)) {
    if (header.parent !== threadId) continue;
    if (header.forkedAt !== null) return [];
    children.push(header.id);
  }
  return children;
}

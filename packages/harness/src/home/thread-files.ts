/**
 * A thread's files beside its log: brought in line with what the log still says after something was erased, and removed
 * with the thread. Both can be run again after a crash and then complete what was begun.
 */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ThreadName } from "@palimpsest/core/log";
import { type Shape, shapeOf } from "@palimpsest/core/message";
import { repairParts } from "../compaction/part-files.ts";
import { threadFolder } from "../home-folders.ts";
import type { Store } from "../stores/store.ts";
import { delegationsOf } from "../subagents/delegations.ts";
import { type DeletedThread, deleteThread } from "../thread/delete.ts";
import type { ThreadDeps } from "../thread/writer.ts";
import { storedNames } from "../tool-output/stored-output.ts";
import { threadWorkspace } from "../workspace/workspace.ts";

/** Part files as the log has them now, and no stored output or answer of which the log no longer says anything. */
export async function cleanThreadFiles(base: string, store: Store, threadId: string): Promise<void> {
  const head = await store.head(threadId);
  if (head === undefined) return;
  const { history, "tool-outputs": outputs } = threadWorkspace(base, { user: store.userId, id: threadId }).roots;
  await repairParts(history.directory, store, threadId, head.compaction);
  const present = await readdir(outputs.directory).catch(() => [] as string[]);
  if (present.length === 0) return;
  const gone = await unspoken(store, threadId, present);
  for (const name of gone) await rm(join(outputs.directory, name), { force: true });
}

/** Names of files whose result was erased. An output is named by the prune that put it there, an answer by its delegation. */
async function unspoken(store: Store, threadId: string, present: readonly string[]): Promise<string[]> {
  const named = new Set<string>();
  const erased = new Set<string>();
  for await (const { record, redacted } of store.records(threadId, { kinds: ["prune", "message"] })) {
    if (record.kind === "prune")
      for (const { replacement } of record.entries) for (const name of storedNames(replacement)) named.add(name);
    if (record.kind !== "message" || !redacted) continue;
    const shape = shapeOf(record.dialect) as Shape<unknown>;
    for (const call of shape.answers(JSON.parse(record.body))) erased.add(call);
  }
  const delegations = delegationsOf((await store.head(threadId))?.state ?? {});
  const answers = delegations.filter(({ id }) => erased.has(id)).map(({ threadId }) => `${threadId}.md`);
  const outputs = present.filter((name) => storedNames(`tool-outputs/${name}`).length > 0);
  return [...outputs.filter((name) => !named.has(name)), ...present.filter((name) => answers.includes(name))];
}

/** As `deleteThread`, with the thread's folder. */
export function deleteThreadWithFiles(deps: ThreadDeps, base: string, threadId: string): Promise<DeletedThread> {
  const remove = (name: ThreadName) => rm(threadFolder(base, name), { recursive: true, force: true });
  return deleteThread(deps, threadId, { remove });
}

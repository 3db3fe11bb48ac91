/**
 * Forking a thread with its files. The fork's state says that they are still to be copied, from the transaction that makes
 * it until they are all there: a fork that was killed in between is known by it, and completed by the next process.
 */
import type { Head, ThreadName } from "@palimpsest/core/log";
import { type Forked, fork, withWriter } from "./acts.ts";
import { commit, type ThreadDeps } from "./writer.ts";

/** The port to a thread's files: what forking needs of them. */
export interface FileCopier {
  /** Whether the thread has any. */
  has(thread: ThreadName): Promise<boolean>;
  copy(from: ThreadName, to: ThreadName): Promise<void>;
  remove(thread: ThreadName): Promise<void>;
}

/** Returns `forked` also for a fork of the same place that was not completed before. */
export async function forkWithFiles(
  deps: ThreadDeps,
  from: string,
  options: { readonly as: string; readonly at?: number },
  files: FileCopier,
): Promise<Forked> {
  const { userId } = deps.store;
  const state = (await files.has({ user: userId, id: from })) ? { state: { [FILES]: { copyFrom: from } } } : {};
  const forked = await fork(deps, from, { ...options, ...state });
  if (forked.kind === "forked") {
    await completeFork(deps, forked.threadId, files).catch(async (error: unknown) => {
      // There is no room for them, say: a fork without its files is not what was asked for.
      await files.remove({ user: userId, id: forked.threadId });
      await deps.store.deleteThread(forked.threadId);
      throw error;
    });
  }
  if (forked.kind !== "exists") return forked;
  const header = await deps.store.header(options.as);
  const same = header?.parent === from && (options.at === undefined || header.forkedAt === options.at);
  if (!same || !(await completeFork(deps, options.as, files))) return forked;
  return { kind: "forked", threadId: options.as, parent: from, at: header.forkedAt ?? 0 };
}

/** Copies what a killed fork has still to copy. False: nothing was left to do, or another holds the thread. */
export async function completeFork(deps: ThreadDeps, threadId: string, { copy }: FileCopier): Promise<boolean> {
  const { userId } = deps.store;
  const from = filesToCopy((await deps.store.head(threadId))?.state ?? {});
  if (from === null) return false;
  const result = await withWriter(deps, threadId, async (writer) => {
    await copy({ user: userId, id: from }, { user: userId, id: threadId });
    return commit(writer, [{ kind: "state", patch: FILES_COPIED }]);
  });
  return result.kind === "done" && result.value.kind === "committed";
}

const FILES = "files";
export const FILES_COPIED = { [FILES]: null };

/** The thread whose files a fork still lacks. */
export function filesToCopy(state: Head["state"]): string | null {
  const from = (state[FILES] as { readonly copyFrom?: unknown } | undefined)?.copyFrom;
  return typeof from === "string" ? from : null;
}

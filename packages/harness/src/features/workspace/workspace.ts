/**
 * A workspace as a value: which directory stands behind each virtual folder, and which of them tools may write to. A
 * sub-agent's is its parent's with a history and stored tool outputs of its own. Opens and reads nothing.
 */

import { existsSync, statSync } from "node:fs";
import { cp, lstat, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { checkThreadId, type ThreadName } from "@palimpsest/core/internal/log";
import { errorCode } from "@palimpsest/core/internal/text";
import { PRIVATE_FOLDER, threadFolder } from "../../home-folders.ts";
import type { FileCopier } from "../../thread/handle.ts";
import { assertRoom, QUOTA, ROOT_NAMES, type RootName, usedBy } from "./inside.ts";

export interface Workspace {
  readonly roots: Readonly<Record<RootName, Root>>;
  /** What the writable folders may take together; null: as much as the disk has. Not given: the default of `inside.ts`. */
  readonly quota?: Quota | null;
}

export interface Quota {
  readonly bytes: number;
  /** Files and folders. */
  readonly entries: number;
}

export interface Root {
  /** On the host. */
  readonly directory: string;
  readonly access: "read-write" | "read-only";
  /** Files and folders of these names, at any depth, are read-only even so (`inside.ts`). */
  readonly protect?: readonly string[];
}

/** The folders of one thread: `{base}/threads/{thread}/...`, for another user under `{base}/users/{user}`. */
export function threadWorkspace(base: string, thread: ThreadName): Workspace {
  const checked = checkThreadId(thread.id);
  if (checked.kind === "invalid") throw new RangeError(checked.problem);
  const folder = threadFolder(base, thread);
  const root = (name: string, access: Root["access"]): Root => ({ directory: join(folder, name), access });
  return {
    roots: {
      workspace: root("workspace", "read-write"),
      uploads: root("uploads", "read-write"),
      outputs: root("outputs", "read-write"),
      history: root("history", "read-only"),
      "tool-outputs": root("tool-outputs", "read-only"),
    },
  };
}

/** What a sub-agent sees: its parent's files, its own past. */
export function subagentWorkspace(parent: Workspace, base: string, thread: ThreadName): Workspace {
  const { workspace, uploads, outputs } = parent.roots;
  return { roots: { ...threadWorkspace(base, thread).roots, workspace, uploads, outputs } };
}

/** Makes the folders that are missing. Mostly none is, and five looks cost a run less than one job for the file system's threads. */
export async function prepareWorkspace({ roots }: Workspace): Promise<void> {
  const missing = ROOT_NAMES.map((name) => roots[name].directory).filter((directory) => !isFolder(directory));
  await Promise.all(missing.map((directory) => mkdir(directory, { recursive: true, mode: PRIVATE_FOLDER })));
}

/** What can't be looked at is made, so that the error is that of making it. */
function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

/*
 * A fork's files: a copy of its parent's as they are now. The history is not copied, it is made from the log; stored tool
 * outputs are, because the forked prompt points to them. Links and pipes are left out.
 */

/** Copies nothing when it would be more than the fork may have. */
export async function copyWorkspace(from: Workspace, to: Workspace): Promise<void> {
  await assertRoom(to, await usedBy(from));
  for (const name of ROOT_NAMES.filter((root) => root !== "history")) {
    const [source, target] = [from.roots[name].directory, to.roots[name].directory];
    // A thread without files has none to copy.
    if (!existsSync(source)) continue;
    await mkdir(target, { recursive: true, mode: PRIVATE_FOLDER });
    await cp(source, target, { recursive: true, filter: isPlain }).catch(ifVanished);
  }
}

async function isPlain(path: string): Promise<boolean> {
  const stats = await lstat(path);
  return stats.isFile() || stats.isDirectory();
}

/** Another process may be working in the parent's folders. */
function ifVanished(error: unknown): void {
  if (errorCode(error) !== "ENOENT") throw error;
}

/* The files of threads in a home, as forking and deleting a thread need them. */

export function fileCopier(base: string, quota: Quota | null = QUOTA): FileCopier {
  return {
    async has(thread) {
      const { roots } = threadWorkspace(base, thread);
      for (const name of ROOT_NAMES.filter((root) => root !== "history"))
        if ((await readdir(roots[name].directory).catch(() => [])).length > 0) return true;
      return false;
    },
    copy: (from, to) => copyWorkspace(threadWorkspace(base, from), { ...threadWorkspace(base, to), quota }),
    remove: (thread) => rm(threadFolder(base, thread), { recursive: true, force: true }),
  };
}

/**
 * A workspace as a value: which directory stands behind each virtual folder, and which of them tools may write to. A
 * sub-agent's is its parent's with a history and stored tool outputs of its own. Opens and reads nothing.
 */
import { statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { checkThreadId, type ThreadName } from "@palimpsest/core/log";
import { HISTORY } from "../history-parts.ts";
import { PRIVATE_FOLDER, threadFolder } from "../home-folders.ts";
import { ROOT_NAMES, type RootName } from "./virtual-path.ts";

export interface Workspace {
  readonly roots: Readonly<Record<RootName, Root>>;
  /** What the writable folders may take together; null: as much as the disk has. Not given: the default of `quota.ts`. */
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
  /** Files and folders of these names, at any depth, are read-only even so (`protected.ts`). */
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
      history: root(HISTORY, "read-only"),
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

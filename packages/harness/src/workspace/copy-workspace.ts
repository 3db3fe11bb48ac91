/**
 * A fork's files: a copy of its parent's as they are now. The history is not copied, it is made from the log; stored tool
 * outputs are, because the forked prompt points to them. Links and pipes are left out.
 */
import { cp, lstat } from "node:fs/promises";
import { codeOf } from "./tool-failure.ts";
import { ROOT_NAMES } from "./virtual-path.ts";
import type { Workspace } from "./workspace.ts";

export async function copyWorkspace(from: Workspace, to: Workspace): Promise<void> {
  for (const name of ROOT_NAMES.filter((root) => root !== "history")) {
    await cp(from.roots[name].directory, to.roots[name].directory, { recursive: true, filter: isPlain }).catch(
      ifMissing,
    );
  }
}

async function isPlain(path: string): Promise<boolean> {
  const stats = await lstat(path);
  return stats.isFile() || stats.isDirectory();
}

/** A thread without files has none to copy. */
function ifMissing(error: unknown): void {
  if (codeOf(error) !== "ENOENT") throw error;
}

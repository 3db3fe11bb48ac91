/**
 * A fork's files: a copy of its parent's as they are now. The history is not copied, it is made from the log; stored tool
 * outputs are, because the forked prompt points to them. Links and pipes are left out.
 */
import { existsSync } from "node:fs";
import { cp, lstat, mkdir } from "node:fs/promises";
import { PRIVATE_FOLDER } from "../home-folders.ts";
import { assertRoom, usedBy } from "./quota.ts";
import { codeOf } from "./tool-failure.ts";
import { ROOT_NAMES } from "./virtual-path.ts";
import type { Workspace } from "./workspace.ts";

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
  if (codeOf(error) !== "ENOENT") throw error;
}

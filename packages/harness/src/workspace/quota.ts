/**
 * How much a thread's files may take, all its writable folders together: bytes, and entries, since empty files and
 * folders fill a disk as well. What is there is measured when it matters and never remembered for long: a person, a
 * sub-agent and a command may all be writing.
 */
import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { ToolFailure } from "./tool-failure.ts";
import type { Quota, Workspace } from "./workspace.ts";

/** Far more than an agent's work needs, and far less than a disk. */
export const QUOTA: Quota = { bytes: 1 << 30, entries: 20_000 };

export function quotaOf({ quota = QUOTA }: Workspace): Quota | null {
  return quota;
}

export async function usedBy({ roots }: { readonly roots: Partial<Workspace["roots"]> }): Promise<Quota> {
  const used = { bytes: 0, entries: 0 };
  for (const { directory, access } of Object.values(roots)) {
    if (access === "read-write") await add(directory, used);
  }
  return used;
}

/** Refuses what would not fit any more. */
export async function assertRoom(workspace: Workspace, more: Quota): Promise<void> {
  const quota = quotaOf(workspace);
  if (quota === null) return;
  const used = await usedBy(workspace);
  if (used.bytes + more.bytes > quota.bytes || used.entries + more.entries > quota.entries) throw noRoom(quota);
}

export function noRoom(quota: Quota): ToolFailure {
  return new ToolFailure(
    `The thread's files may take ${megabytes(quota.bytes)} MB and ${quota.entries} files and folders in all, and this would be more: remove some first.`,
  );
}

function megabytes(bytes: number): number {
  return Math.round((bytes / (1 << 20)) * 10) / 10;
}

/** Adds what a folder holds. Whatever vanishes on the way takes no room. */
export async function add(directory: string, used: { bytes: number; entries: number }): Promise<void> {
  const entries: readonly Dirent[] = await readdir(directory, { withFileTypes: true }).catch(() => []);
  used.entries += entries.length;
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) await add(path, used);
    else used.bytes += (await lstat(path).catch(() => null))?.size ?? 0;
  }
}

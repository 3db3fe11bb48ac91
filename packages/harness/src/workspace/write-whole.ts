/**
 * Writes a file whole or not at all: beside its place first, then moved there. Readers never see half of it, a full disk
 * leaves the old content, and a link or hard link in its place is replaced, not written through.
 */
import { randomUUID } from "node:crypto";
import { constants as FLAGS, type Stats } from "node:fs";
import { lstat, open, rename, rm } from "node:fs/promises";
import { PRIVATE_FILE } from "../home-folders.ts";
import { type Folder, withFolder } from "./inside.ts";
import { assertRoom } from "./quota.ts";
import { codeOf, failureFor, ToolFailure } from "./tool-failure.ts";
import { type Place, virtualPath } from "./virtual-path.ts";
import type { Quota, Workspace } from "./workspace.ts";

export async function writeWhole(workspace: Workspace, place: Place, content: string | Uint8Array): Promise<void> {
  const path = virtualPath(place);
  const name = place.segments.at(-1);
  if (name === undefined) throw new ToolFailure(`${path} is a folder: name a file inside of it.`);
  const parent = { ...place, segments: place.segments.slice(0, -1) };
  try {
    const room = (more: Quota) => assertRoom(workspace, more);
    await withFolder(workspace, parent, (folder) => writeIn(folder, { name, content }, room), "create");
  } catch (error) {
    throw failureFor(path, error);
  }
}

interface NewFile {
  readonly name: string;
  readonly content: string | Uint8Array;
}

/** In an open folder; `room` refuses what would be too much. */
export async function writeIn(
  folder: Folder,
  { name, content }: NewFile,
  room: (more: Quota) => Promise<void>,
): Promise<void> {
  const target = folder.at(name);
  const before = await statsOf(target);
  const mode = before === null ? PRIVATE_FILE : before.mode & 0o777;
  await room({
    bytes: Buffer.byteLength(content) - (before?.size ?? 0),
    entries: before === null ? 1 : 0,
  });
  const temporary = folder.at(`.${randomUUID()}.tmp`);
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = FLAGS;
  const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    await file.writeFile(content);
    await file.close();
    await rename(temporary, target);
  } catch (error) {
    await file.close().catch(() => {});
    await rm(temporary, { force: true });
    throw error;
  }
}

/** What stands there keeps its permissions; a folder, a pipe or a device is not replaced. */
async function statsOf(target: string): Promise<Stats | null> {
  const stats = await lstat(target).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  });
  if (stats === null) return null;
  if (stats.isSymbolicLink()) throw Object.assign(new Error("a link"), { code: "ELOOP" });
  if (stats.isDirectory()) throw Object.assign(new Error("a folder"), { code: "EISDIR" });
  if (!stats.isFile()) throw new ToolFailure("The path is not a regular file: choose another name.");
  return stats;
}

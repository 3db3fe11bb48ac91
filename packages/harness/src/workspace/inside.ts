/**
 * Opens files and folders so that nothing outside of the thread's folders can be reached: each component is opened from
 * the handle of its parent, without following links. A link made between a check and its use is met by the open itself.
 * Where the system has no `/proc/self/fd`, a component is addressed by its path and checked again after it was opened.
 */
import { existsSync, constants as FLAGS } from "node:fs";
import { type FileHandle, lstat, mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { PRIVATE_FOLDER } from "../home-folders.ts";
import { protectedFailure, protectedIn } from "./protected.ts";
import { codeOf, failureFor, ToolFailure } from "./tool-failure.ts";
import { type Place, resolveVirtual, virtualPath } from "./virtual-path.ts";
import type { Root, Workspace } from "./workspace.ts";

const BY_HANDLE = existsSync("/proc/self/fd");
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = FLAGS;

/** The place a tool was asked for; refusals become the tool's failure. */
export function placeOf(path: string): Place {
  const resolved = resolveVirtual(path);
  if (resolved.kind === "refused") throw new ToolFailure(`${resolved.problem}.`);
  if (resolved.kind === "top") throw new ToolFailure(`${path} is the top folder: name something inside of it.`);
  return resolved.place;
}

/** Refuses to write where tools may only read. */
export function writablePlace(workspace: Workspace, path: string): Place {
  const place = placeOf(path);
  const { access, protect = [] } = workspace.roots[place.root];
  const name = protectedIn(protect, place.segments);
  if (name !== null) throw protectedFailure(place, name);
  if (access === "read-only") {
    throw new ToolFailure(
      `${virtualPath(place)} is read-only: write to /mnt/user-data/workspace or /mnt/user-data/outputs.`,
    );
  }
  return place;
}

/** An open folder. `at(name)` addresses one of its entries for as long as the folder is open. */
export interface Folder {
  /** Addresses the folder itself. */
  readonly path: string;
  at(name: string): string;
  close(): Promise<void>;
}

/** Runs `use` with the place's folder open; `missing: "create"` makes the folders that aren't there. */
export async function withFolder<T>(
  workspace: Workspace,
  place: Place,
  use: (folder: Folder) => Promise<T>,
  missing: "fail" | "create" = "fail",
): Promise<T> {
  return withFolderIn(workspace.roots[place.root], place.segments, { use, missing });
}

interface FolderUse<T> {
  readonly use: (folder: Folder) => Promise<T>;
  readonly missing: "fail" | "create";
}

/** The same below any folder. */
export async function withFolderIn<T>(
  root: Root,
  segments: readonly string[],
  { use, missing }: FolderUse<T>,
): Promise<T> {
  const folder = await descend(root, segments, missing);
  try {
    return await use(folder);
  } finally {
    await folder.close();
  }
}

/** Runs `use` with a regular file open for reading; anything else is a failure that says what it is. */
export async function withFile<T>(
  workspace: Workspace,
  place: Place,
  use: (file: FileHandle, size: number) => Promise<T>,
): Promise<T> {
  return withFileIn(workspace.roots[place.root], place.segments, { shown: virtualPath(place), use });
}

/** The same below any folder; `shown` is what messages call the file. */
export async function withFileIn<T>(root: Root, segments: readonly string[], entry: EntryUse<T>): Promise<T> {
  const { shown } = entry;
  const name = segments.at(-1);
  if (name === undefined) throw new ToolFailure(`${shown} is a folder: list it with ls.`);
  try {
    const use = (folder: Folder): Promise<T> => withEntry(folder, name, entry);
    return await withFolderIn(root, segments.slice(0, -1), { use, missing: "fail" });
  } catch (error) {
    throw failureFor(shown, error);
  }
}

interface EntryUse<T> {
  readonly shown: string;
  readonly use: (file: FileHandle, size: number) => Promise<T>;
}

async function withEntry<T>(folder: Folder, name: string, { shown, use }: EntryUse<T>): Promise<T> {
  // Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
  const file = await open(folder.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (stats.isDirectory()) throw new ToolFailure(`${shown} is a folder: list it with ls.`);
    if (!stats.isFile()) throw new ToolFailure(`${shown} is not a regular file.`);
    await stillThere(file, folder.at(name));
    return await use(file, stats.size);
  } finally {
    await file.close();
  }
}

async function descend(root: Root, segments: readonly string[], missing: "fail" | "create"): Promise<Folder> {
  if (missing === "create") await mkdir(root.directory, { recursive: true, mode: PRIVATE_FOLDER });
  let folder = await openFolder(root.directory);
  for (const name of segments) {
    const parent = folder;
    try {
      if (missing === "create") await ensureFolder(parent.at(name));
      folder = await openFolder(parent.at(name));
    } finally {
      await parent.close();
    }
  }
  return folder;
}

async function ensureFolder(path: string): Promise<void> {
  await mkdir(path, { mode: PRIVATE_FOLDER }).catch((error: unknown) => {
    if (codeOf(error) !== "EEXIST") throw error;
  });
}

async function openFolder(path: string): Promise<Folder> {
  const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(async (error: unknown) => {
    // Linux reports a link to a folder as "not a directory"; say what it is.
    if (codeOf(error) === "ENOTDIR" && (await isLink(path)))
      throw Object.assign(new Error("a link"), { code: "ELOOP" });
    throw error;
  });
  if (!BY_HANDLE) await stillThere(handle, path);
  const own = BY_HANDLE ? `/proc/self/fd/${handle.fd}` : path;
  return { path: own, at: (name) => join(own, name), close: () => handle.close() };
}

async function isLink(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => null);
  return stats?.isSymbolicLink() ?? false;
}

/** Where components are addressed by path: what was opened is what the path names, with no link on the way. */
async function stillThere(handle: FileHandle, path: string): Promise<void> {
  if (BY_HANDLE) return;
  const [opened, named] = await Promise.all([handle.stat(), lstat(path)]);
  if (opened.ino !== named.ino || opened.dev !== named.dev) {
    throw Object.assign(new Error("changed while it was opened"), { code: "ESTALE" });
  }
}

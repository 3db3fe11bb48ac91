/**
 * Opens files and folders so that nothing outside of the thread's folders can be reached: each component is opened from
 * the handle of its parent, without following links. A link made between a check and its use is met by the open itself.
 * Where the system has no `/proc/self/fd`, a component is addressed by its path and checked again after it was opened.
 */

import { type Dirent, existsSync, constants as FLAGS } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "@palimpsest/core/internal/text";
import { PRIVATE_FOLDER } from "../../home-folders.ts";
import { failureFor, ToolFailure } from "./tool-failure.ts";
import type { Quota, Root, Workspace } from "./workspace.ts";

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
  // Without O_NONBLOCK, opening a pipe without a writer would block without end.
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
    if (errorCode(error) !== "EEXIST") throw error;
  });
}

async function openFolder(path: string): Promise<Folder> {
  const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(async (error: unknown) => {
    // Linux reports a link to a folder as "not a directory"; say what it is.
    if (errorCode(error) === "ENOTDIR" && (await isLink(path)))
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

/**
 * Virtual paths: what the model may name, and which folder of the thread a name stands for. Pure text work: it decides
 * where a path would lead, and refuses what can't be inside. That nothing on the disk leads elsewhere is checked when
 * the file is opened (`inside.ts`).
 */

export const VIRTUAL_ROOT = "/mnt/user-data";

export const ROOT_NAMES = ["workspace", "uploads", "outputs", "history", "tool-outputs"] as const;
export type RootName = (typeof ROOT_NAMES)[number];

/** A name inside one of the thread's folders; no segments: the folder itself. */
export interface Place {
  readonly root: RootName;
  readonly segments: readonly string[];
}

type Resolved =
  | { readonly kind: "place"; readonly place: Place }
  /** `/mnt/user-data` itself: it can be listed and searched, and holds only the folders. */
  | { readonly kind: "top" }
  | { readonly kind: "refused"; readonly problem: string };

const MAX_NAME_BYTES = 255;
const MAX_PATH_BYTES = 4096;

/** Relative paths start in the workspace. Names are compared exactly, so another case is another name. */
export function resolveVirtual(path: string): Resolved {
  const problem = unusable(path);
  if (problem !== null) return { kind: "refused", problem };
  const from = path.startsWith("/") ? path : `${VIRTUAL_ROOT}/workspace/${path}`;
  const segments = collapse(from);
  if (segments === null || segments[0] !== "mnt" || segments[1] !== "user-data") return outside(path);
  const [root, ...inner] = segments.slice(2);
  if (root === undefined) return { kind: "top" };
  if (!isRootName(root)) return outside(path);
  const long = inner.find((name) => bytes(name) > MAX_NAME_BYTES);
  if (long !== undefined) {
    return { kind: "refused", problem: `the name "${long.slice(0, 40)}..." is longer than ${MAX_NAME_BYTES} bytes` };
  }
  return { kind: "place", place: { root, segments: inner } };
}

/** The one spelling of a place. */
export function virtualPath({ root, segments }: Place): string {
  return [VIRTUAL_ROOT, root, ...segments].join("/");
}

function unusable(path: string): string | null {
  if (path === "") return "the path is empty";
  if (path.includes("\0")) return "the path contains a null byte";
  if (path.includes("\\")) return `the path ${shown(path)} contains a backslash: separate folders with /`;
  if (bytes(path) > MAX_PATH_BYTES) return `the path is longer than ${MAX_PATH_BYTES} bytes`;
  return null;
}

/** Segments without `.` and `..`; null when `..` climbs above the top. Links are never followed, so text decides. */
function collapse(path: string): readonly string[] | null {
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") segments.push(segment);
    else if (segments.pop() === undefined) return null;
  }
  return segments;
}

function outside(path: string): Resolved {
  const roots = ROOT_NAMES.map((name) => `${VIRTUAL_ROOT}/${name}`).join(", ");
  return { kind: "refused", problem: `${shown(path)} is outside of the workspace: use a path under one of ${roots}` };
}

function isRootName(name: string): name is RootName {
  return (ROOT_NAMES as readonly string[]).includes(name);
}

function shown(path: string): string {
  return JSON.stringify(path.length > 120 ? `${path.slice(0, 120)}...` : path);
}

function bytes(text: string): number {
  return Buffer.byteLength(text);
}

/*
 * Names of files and folders that a person's own programs run because they are there: git's hooks, an editor's tasks. In a
 * directory of the person the agent reads them and can't change them. Pure.
 */

/** The first of the names on the way to a file, at any depth; null if there is none. */
export function protectedIn(names: readonly string[], segments: readonly string[]): string | null {
  if (names.length === 0) return null;
  const folded = names.map(fold);
  return segments.find((segment) => folded.includes(fold(segment))) ?? null;
}

export function protectedFailure(place: Place, name: string): ToolFailure {
  return new ToolFailure(
    `${virtualPath(place)} can't be changed: programs of the user run what is in ${name}. Tell the user what to change there.`,
  );
}

/** Some disks take other spellings for the same name: other cases, invisible characters, dots and blanks at the end. */
function fold(name: string): string {
  const visible = name.replace(/\p{Default_Ignorable_Code_Point}/gu, "").replace(/(?<![. ])[. ]+$/, "");
  const lower = visible.toLowerCase();
  return lower === "git~1" ? ".git" : lower;
}

/*
 * How much a thread's files may take, all its writable folders together: bytes, and entries, since empty files and
 * folders fill a disk as well. What is there is measured when it matters and never remembered for long: a person, a
 * sub-agent and a command may all be writing.
 */

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

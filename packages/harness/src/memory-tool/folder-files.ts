/**
 * A folder of the disk as the memory tool's files: no name leads out of it, no link is followed, a file is written whole
 * or not at all, and all changes of one folder stand in a row, whichever process makes them.
 */
import { lstat, readdir, rename, rm } from "node:fs/promises";
import { withFileLock } from "../memory/file-lock.ts";
import { type Folder, withFileIn, withFolderIn } from "../workspace/inside.ts";
import { add } from "../workspace/quota.ts";
import { codeOf, failureFor, ToolFailure } from "../workspace/tool-failure.ts";
import type { Quota, Root } from "../workspace/workspace.ts";
import { writeIn } from "../workspace/write-whole.ts";
import type { MemoryEntry, MemoryFiles, NamedEntry, Segments } from "./files.ts";
import { MEMORY_ROOT } from "./memory-path.ts";

export interface MemoryLimits {
  /** Most bytes of one file (1 MB). */
  readonly fileBytes?: number;
  /** Most bytes of all files together (64 MB). */
  readonly bytes?: number;
  /** Most files and folders (2,000). */
  readonly entries?: number;
}

export function folderFiles(directory: string, limits: MemoryLimits = {}): MemoryFiles {
  const { fileBytes = 1 << 20, bytes = 64 << 20, entries = 2000 } = limits;
  const root: Root = { directory, access: "read-write" };
  const above = <T>(
    path: Segments,
    use: (folder: Folder, name: string) => Promise<T>,
    missing?: "create",
  ): Promise<T> =>
    withFolderIn(root, path.slice(0, -1), { use: (folder) => use(folder, path.at(-1)!), missing: missing ?? "fail" });
  const files: MemoryFiles = {
    look: (path) =>
      inWords(path, async () => {
        if (path.length === 0) return entryAt(directory);
        return above(path, (folder, name) => entryAt(folder.at(name))).catch(orNothing);
      }),
    list: (path) => inWords(path, () => withFolderIn(root, path, { use: listed, missing: "fail" })),
    read: (path) =>
      inWords(path, () =>
        withFileIn(root, path, {
          shown: shownAs(path),
          use: async (file, size) => {
            if (size > fileBytes) throw tooLarge(path, fileBytes);
            return (await file.readFile()).toString("utf8");
          },
        }),
      ),
    write: (path, text) =>
      inWords(path, async () => {
        if (Buffer.byteLength(text) > fileBytes) throw tooLarge(path, fileBytes);
        const room = (more: Quota) => assertRoom(directory, { bytes, entries }, more);
        await above(path, (folder, name) => writeIn(folder, { name, content: text }, room), "create");
      }),
    remove: (path) => inWords(path, () => above(path, (folder, name) => rm(folder.at(name), { recursive: true }))),
    rename: (path, to) =>
      inWords(path, () =>
        above(path, (folder, name) =>
          above(to, (target, newName) => rename(folder.at(name), target.at(newName)), "create"),
        ),
      ),
    exclusively: (work) => withFileLock(`${directory}.lock`, work),
  };
  return files;
}

async function entryAt(path: string): Promise<MemoryEntry | null> {
  const stats = await lstat(path).catch(orNothing);
  if (stats === null) return null;
  if (stats.isSymbolicLink()) throw Object.assign(new Error("a link"), { code: "ELOOP" });
  if (stats.isDirectory()) return { kind: "folder", bytes: stats.size };
  if (!stats.isFile()) throw new ToolFailure("The path is not a file.");
  return { kind: "file", bytes: stats.size };
}

/** What vanishes on the way, and what is neither a file nor a folder, is left out. */
async function listed(folder: Folder): Promise<readonly NamedEntry[]> {
  const names = (await readdir(folder.path)).sort();
  const entries = await Promise.all(
    names.map(async (name): Promise<NamedEntry[]> => {
      const entry = await entryAt(folder.at(name)).catch(() => null);
      return entry === null ? [] : [{ name, ...entry }];
    }),
  );
  return entries.flat();
}

function orNothing(error: unknown): null {
  if (codeOf(error) === "ENOENT") return null;
  throw error;
}

async function assertRoom(directory: string, most: Quota, more: Quota): Promise<void> {
  const used = { bytes: 0, entries: 0 };
  await add(directory, used);
  if (used.bytes + more.bytes <= most.bytes && used.entries + more.entries <= most.entries) return;
  throw new ToolFailure(
    `${MEMORY_ROOT} may hold ${most.bytes} bytes in ${most.entries} files and directories, and this would be more: delete some first.`,
  );
}

function tooLarge(path: Segments, most: number): ToolFailure {
  return new ToolFailure(`${shownAs(path)} would have more than ${most} bytes: split it into several files.`);
}

/** No path of the host in what a model reads. */
async function inWords<T>(path: Segments, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw failureFor(shownAs(path), error);
  }
}

function shownAs(path: Segments): string {
  return [MEMORY_ROOT, ...path].join("/");
}

/**
 * Imports a folder or a zip archive of sessions: every JSON file in it and below, each into threads of its own, named after the file. One file
 * that can't be read doesn't keep the others out, and what an earlier run has imported is left as it is.
 */
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { PalimpsestError } from "@palimpsest/core/internal/errors";
import { errorText } from "@palimpsest/core/internal/text";
import type { ThreadDeps } from "../thread/writer.ts";
import type { ByteSource } from "./byte-source.ts";
import {
  type ImportOptions,
  type ImportOutcome,
  type ImportProgress,
  importFile,
  importSource,
} from "./import-file.ts";
import type { ValueLimit } from "./value-splitter.ts";
import { type Archive, isZip, zipEntries } from "./zip.ts";

export interface FolderOutcome {
  readonly kind: "folder";
  readonly files: readonly FileOutcome[];
}

export interface FileOutcome {
  /** Its path in the folder. */
  readonly file: string;
  readonly outcome: ImportOutcome;
}

export interface FolderOptions extends ImportOptions {
  /** Of an archive: so many files, and so many bytes unpacked, and no more; else nothing of it is read. */
  readonly most?: ArchiveLimits;
  /** Told the size of the largest file before one is read. It may throw: then nothing is read. */
  readonly onLargest?: (bytes: number) => void;
}

export interface ArchiveLimits {
  readonly files: number;
  readonly bytes: number;
  readonly value?: ValueLimit;
}

/** With `bytes`, those of a zip archive, whose name the path is. */
export async function importFolder(deps: ThreadDeps, path: string, options: FolderOptions): Promise<FolderOutcome> {
  const files: FileOutcome[] = [];
  const sessions = await sessionsIn(path, options);
  options.onLargest?.(sessions.reduce((most, { source }) => Math.max(most, sizeOf(source)), 0));
  for (const [index, { file, source }] of sessions.entries()) {
    options.signal?.throwIfAborted();
    const own = {
      ...options,
      threadId: `${options.threadId}-${threadName(file)}`,
      onProgress: ({ phase, done }: ImportProgress) =>
        options.onProgress?.({ phase, done: (index + done) / sessions.length }),
    };
    const outcome = typeof source === "string" ? unreadable(source) : await imported(deps, source, own, path, file);
    files.push({ file, outcome });
  }
  return { kind: "folder", files };
}

const sizeOf = (source: SessionFile["source"]): number =>
  source === null || typeof source === "string" ? 0 : source.size;

interface SessionFile {
  /** Its path in the folder or the archive. */
  readonly file: string;
  /** Where its bytes are; null: on the disk. A text says why they can't be had. */
  readonly source: ByteSource | string | null;
}

interface ArchivedFile extends SessionFile {
  readonly source: ByteSource | string;
}

const unreadable = (problem: string): ImportOutcome => ({ kind: "unreadable", problem });

async function imported(
  deps: ThreadDeps,
  source: ByteSource | null,
  options: ImportOptions,
  path: string,
  file: string,
): Promise<ImportOutcome> {
  if (source === null) return importFile(deps, join(path, file), options);
  try {
    return await importSource(deps, source, options);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (PalimpsestError.isInstance(error)) throw error;
    return unreadable(`${file} can't be unpacked: ${errorText(error)}`);
  }
}

async function sessionsIn(path: string, { bytes, most }: FolderOptions): Promise<readonly SessionFile[]> {
  if (bytes !== undefined) return archivedFiles({ name: path, bytes }, most);
  return (await isZip(path)) ? archivedFiles({ name: path, bytes: null }, most) : sessionFiles(path);
}

async function sessionFiles(path: string): Promise<readonly SessionFile[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && SESSION.test(entry.name))
    .map((entry) => relative(path, join(entry.parentPath, entry.name)))
    .sort()
    .map((file) => ({ file, source: null }));
}

/** The sessions in it; where nothing can be read, the archive itself with the reason. */
export async function archivedFiles(archive: Archive, most?: ArchiveLimits): Promise<readonly ArchivedFile[]> {
  const entries = await zipEntries(archive, most?.files);
  if (typeof entries === "string") return [{ file: archive.name, source: entries }];
  const sessions = entries.filter(({ name }) => SESSION.test(name) && !name.startsWith("__MACOSX/"));
  const size = sessions.reduce((sum, entry) => sum + entry.size, 0);
  if (most !== undefined && size > most.bytes)
    return [{ file: archive.name, source: `${archive.name} unpacks to more than ${most.bytes} bytes` }];
  return sessions.map((entry) => ({
    file: entry.name,
    source: entry.problem ?? { ...entry, mostOfValue: most?.value },
  }));
}

const SESSION = /\.jsonl?$/i;

/** The path without its ending, in letters that a thread id may have; a long one keeps its end, which tells files apart. */
function threadName(file: string): string {
  const name = file.replace(/\.jsonl?$/i, "").replaceAll(/[^A-Za-z0-9_-]+/g, "-");
  return name.slice(-LONGEST).replace(/^-+|-+$/g, "") || "file";
}

const LONGEST = 60;

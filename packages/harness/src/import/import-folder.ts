/**
 * Imports a folder of sessions: every JSON file in it and below, each into threads of its own, named after the file. One file
 * that can't be read doesn't keep the others out, and what an earlier run has imported is left as it is.
 */
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import type { ThreadDeps } from "../threads/writer.ts";
import { type ImportOptions, type ImportOutcome, importFile } from "./import-file.ts";

export interface FolderOutcome {
  readonly kind: "folder";
  readonly files: readonly FileOutcome[];
}

export interface FileOutcome {
  /** Its path in the folder. */
  readonly file: string;
  readonly outcome: ImportOutcome;
}

export async function importFolder(deps: ThreadDeps, path: string, options: ImportOptions): Promise<FolderOutcome> {
  const files: FileOutcome[] = [];
  const sessions = await sessionFiles(path);
  for (const [index, file] of sessions.entries()) {
    options.signal?.throwIfAborted();
    const threadId = `${options.threadId}-${threadName(file)}`;
    const outcome = await importFile(deps, join(path, file), {
      ...options,
      threadId,
      onProgress: ({ phase, done }) => options.onProgress?.({ phase, done: (index + done) / sessions.length }),
    });
    files.push({ file, outcome });
  }
  return { kind: "folder", files };
}

async function sessionFiles(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.jsonl?$/i.test(entry.name))
    .map((entry) => relative(path, join(entry.parentPath, entry.name)))
    .sort();
}

/** The path without its ending, in letters that a thread id may have; a long one keeps its end, which tells files apart. */
function threadName(file: string): string {
  const name = file.replace(/\.jsonl?$/i, "").replaceAll(/[^A-Za-z0-9_-]+/g, "-");
  return name.slice(-LONGEST).replace(/^-+|-+$/g, "") || "file";
}

const LONGEST = 60;

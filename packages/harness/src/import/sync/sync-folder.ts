/**
 * Follows a folder of sessions: one round reads every file that has changed and brings its threads up to date. Files are
 * only read. Links are not followed, so that a session can't bring in what lies outside of the folder.
 */
import { readdir, realpath, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { errorText } from "@palimpsest/core/internal/text";
import type { Problem } from "../conversation.ts";
import { isSettled, syncFile } from "./sync-file.ts";
import type { SyncOptions } from "./synced-threads.ts";

export interface SyncRound {
  /** Sessions in the folder, and those that had something new. */
  readonly files: number;
  readonly changed: number;
  readonly messages: number;
  readonly threads: readonly string[];
  /** Files that somebody else's writing kept out this time. */
  readonly busy: number;
  /** What couldn't be read, and what was left out, by file. */
  readonly notes: readonly Problem[];
}

/** Size and time of each file at its last reading, so that unchanged files aren't opened again. */
export type SeenFiles = Map<string, string>;

export async function syncFolder(root: string, options: SyncOptions, seen: SeenFiles = new Map()): Promise<SyncRound> {
  const { names, notes } = await sessionFiles(root);
  const threads = new Set<string>();
  let [changed, messages, busy] = [0, 0, 0];
  for (const name of names) {
    options.signal?.throwIfAborted();
    try {
      const { size, mtimeMs } = await stat(join(root, name));
      const mark = `${size} ${mtimeMs}`;
      if (seen.get(name) === mark) continue;
      const file = { path: join(root, name), name, size, modified: mtimeMs };
      const synced = await syncFile(file, options);
      // A file that changed a moment ago is read again.
      if (synced.kind !== "busy" && isSettled(file, options)) seen.set(name, mark);
      busy += synced.kind === "busy" ? 1 : 0;
      changed += synced.messages > 0 ? 1 : 0;
      messages += synced.messages;
      for (const threadId of synced.threads) threads.add(threadId);
      notes.push(...synced.notes.map(({ place, message }) => ({ place: placeIn(name, place), message })));
    } catch (error) {
      if (options.signal?.aborted === true) throw error;
      // It may have been deleted since it was listed; then the next round doesn't list it.
      notes.push({ place: name, message: errorText(error) });
    }
  }
  return { files: names.length, changed, messages, threads: [...threads], busy, notes };
}

const placeIn = (name: string, place: string): string => (place === "" ? name : `${name}, ${place}`);

async function sessionFiles(root: string): Promise<{ readonly names: readonly string[]; readonly notes: Problem[] }> {
  const folder = await realpath(root);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const nameOf = (entry: (typeof entries)[number]) => relative(folder, join(entry.parentPath, entry.name));
  const links = entries.filter((entry) => entry.isSymbolicLink());
  const names = entries.filter((entry) => entry.isFile() && /\.jsonl?$/i.test(entry.name)).map(nameOf);
  return {
    names: names.sort(),
    notes: links.map((entry) => ({ place: nameOf(entry), message: "is a link, and links are not followed" })),
  };
}

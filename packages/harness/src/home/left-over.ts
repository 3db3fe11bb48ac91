/**
 * What a killed process may have left beside the logs: forks whose files were not all copied, folders of threads that are
 * no more, evidence of words that were erased meanwhile. Each is said with what completes it; a rebuild completes it.
 */
import { existsSync, readdirSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { threadFolder } from "../home-folders.ts";
import { PRIVATE_FOLDER } from "../private-files.ts";
import { readTurns, refOf } from "../recall/messages.ts";
import type { Store } from "../stores/store.ts";
import { everyThread, everyUser } from "../stores/users.ts";
import { completeFork, filesToCopy } from "../thread/fork-files.ts";
import { redact } from "../thread/redact.ts";
import { threadDeps } from "../thread/writer.ts";
import { fileCopier } from "../workspace/file-copier.ts";
import type { Check } from "./doctor.ts";

export interface LeftOverOptions {
  readonly home: string;
  readonly derived: "skip" | "rebuild";
  /** Whether the home's folders belong to this store alone; else those it doesn't know may be another's. */
  readonly folders: "own" | "shared";
}

/** Nothing where all is well. */
export async function leftOverChecks(store: Store, options: LeftOverOptions): Promise<Check[]> {
  const checks: Check[] = [];
  const folders = new Set<string>();
  for await (const own of everyUser(store)) {
    for await (const { header } of everyThread(own)) {
      const folder = threadFolder(options.home, header);
      // Before names were spelled out a folder had the thread's own name, and before that all lay together.
      for (const one of [folder, join(dirname(folder), header.id), join(options.home, "threads", header.id)])
        folders.add(one);
      const half = await forkCheck(own, header.id, options);
      if (half !== null) checks.push(half);
      const evidence = options.derived === "skip" ? null : await evidenceCheck(own, header.id);
      if (evidence !== null) checks.push(evidence);
    }
  }
  const stray = await folderCheck(folders, options);
  return stray === null ? checks : [...checks, stray];
}

async function forkCheck(store: Store, threadId: string, { home, derived }: LeftOverOptions): Promise<Check | null> {
  const from = filesToCopy((await store.head(threadId))?.state ?? {});
  if (from === null) return null;
  const name = `files of ${threadId}`;
  const what = `this fork was killed while it copied the files of ${from}`;
  if (derived === "skip")
    return { name, ok: false, detail: `${what}: its next run, or "palimpsest doctor --rebuild", copies the rest` };
  const done = await completeFork(threadDeps(store), threadId, fileCopier(home, null));
  return {
    name,
    ok: false,
    detail: done ? `${what}; the rest was copied` : `${what}, and is in use: run doctor again`,
  };
}

/** A run that is killed right after it got evidence can't remove it when the words are erased elsewhere meanwhile. */
async function evidenceCheck(store: Store, threadId: string): Promise<Check | null> {
  const gone = new Set<string>();
  for await (const { record, redacted } of store.records(threadId, { kinds: ["evidence"] })) {
    if (record.kind !== "evidence" || redacted) continue;
    const refs = record.ids.filter((id) => /^[^#]+#\d{1,15}$/.test(id));
    const there = new Set((await readTurns(store, refs)).map(refOf));
    for (const ref of refs) if (!there.has(ref)) gone.add(ref);
  }
  const erased: string[] = [];
  for (const ref of gone) {
    const at = ref.lastIndexOf("#");
    const result = await redact(threadDeps(store), ref.slice(0, at), Number(ref.slice(at + 1)));
    if (result.kind === "already-redacted" && result.evidenceIn.includes(threadId)) erased.push(ref);
  }
  if (erased.length === 0) return null;
  const detail = `held words of ${erased.join(", ")}, which were erased while it was written; erased now`;
  return { name: `evidence of ${threadId}`, ok: false, detail };
}

async function folderCheck(ownFolders: ReadonlySet<string>, options: LeftOverOptions): Promise<Check | null> {
  const { home, derived, folders } = options;
  const stray = threadFolders(home).filter((folder) => !ownFolders.has(folder));
  if (stray.length === 0) return null;
  const named = stray.map((folder) => relative(home, folder)).join(", ");
  const what = `${named}: no thread of this store has these files`;
  if (derived === "skip" || folders === "shared")
    return { name: "thread folders", ok: false, detail: `${what}; delete them if no other store uses this home` };
  for (const folder of stray) await setAside(home, folder);
  const detail = `${what}; moved to ${join(home, ASIDE)}: delete them there if no other store uses this home`;
  return { name: "thread folders", ok: false, detail };
}

const ASIDE = "left-over";

/** Not deleted: another store may know the thread. But no new thread of its name finds the files any more. */
async function setAside(home: string, folder: string): Promise<void> {
  await mkdir(join(home, ASIDE), { recursive: true, mode: PRIVATE_FOLDER });
  const name = basename(folder);
  for (let count = 1; ; count += 1) {
    const aside = join(home, ASIDE, count === 1 ? name : `${name}-${count}`);
    if (!existsSync(aside)) return rename(folder, aside);
  }
}

/** Of every user. */
function threadFolders(home: string): string[] {
  const users = entries(join(home, "users"));
  return [home, ...users].flatMap((folder) => entries(join(folder, "threads")));
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(folder, name));
  } catch {
    return [];
  }
}

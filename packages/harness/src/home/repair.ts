/**
 * What a killed process may have left: forks with missing files, folders of deleted threads, half-erased messages, old search
 * indexes. Each finding says what completes it; a rebuild does that.
 */
import { existsSync, readdirSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { erasedFacts } from "@palimpsest/core/internal/memory";
import { eraseMessage } from "../features/memory/erase-message.ts";
import type { Repository } from "../features/memory/repository.ts";
import { fileCopier } from "../features/workspace/workspace.ts";
import { notedStores, PRIVATE_FOLDER, threadFolder } from "../home-folders.ts";
import { indexJob, isSearchable, rebuildIndex } from "../recall/catch-up.ts";
import { indexProgress, startIndexing } from "../recall/indexing.ts";
import { readTurns } from "../recall/search.ts";
import { INDEX_QUEUE, type IndexProgress, progressOf, refOf } from "../recall/stored-index.ts";
import { asUser, everyThread, everyUser } from "../stores/driver-rules.ts";
import { isPostgresUrl, openStore, storeTarget } from "../stores/open.ts";
import type { JobStatus } from "../stores/outbox.ts";
import type { Store } from "../stores/store.ts";
import { completeFork } from "../thread/handle.ts";
import { eraseFacts, redact } from "../thread/redact.ts";
import { filesToCopy, threadDeps } from "../thread/writer.ts";
import type { HomeCheck } from "./doctor.ts";
import { cleanThreadFiles } from "./home-acts.ts";

interface LeftOverOptions {
  readonly home: string;
  readonly derived: "skip" | "rebuild";
  /** Whether the home's folders belong to this store alone; else those it doesn't know may be another's. */
  readonly folders: "own" | "shared";
}

/** Nothing where all is well. */
export async function leftOverChecks(store: Store, options: LeftOverOptions): Promise<HomeCheck[]> {
  const checks: HomeCheck[] = [];
  const folders = new Set<string>();
  for await (const own of everyUser(store)) {
    for await (const { header } of everyThread(own)) {
      folders.add(threadFolder(options.home, header));
      const half = await forkCheck(own, header.id, options);
      if (half !== null) checks.push(half);
      const evidence = options.derived === "skip" ? null : await evidenceCheck(own, header.id);
      if (evidence !== null) checks.push(evidence);
    }
  }
  const stray = await folderCheck(folders, options);
  return stray === null ? checks : [...checks, stray];
}

async function forkCheck(
  store: Store,
  threadId: string,
  { home, derived }: LeftOverOptions,
): Promise<HomeCheck | null> {
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
async function evidenceCheck(store: Store, threadId: string): Promise<HomeCheck | null> {
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

async function folderCheck(ownFolders: ReadonlySet<string>, options: LeftOverOptions): Promise<HomeCheck | null> {
  const { home, derived } = options;
  const stores = [storeTarget(null, home), ...notedStores(home)];
  // The threads of a store that can't be read now are unknown.
  const others = await foldersElsewhere(home, stores.filter(existsSync)).catch(() => null);
  const folders = others === null || stores.some(isPostgresUrl) ? "shared" : options.folders;
  const stray = threadFolders(home).filter((folder) => !ownFolders.has(folder) && !others?.has(folder));
  if (stray.length === 0) return null;
  const named = stray.map((folder) => relative(home, folder)).join(", ");
  const what = `${named}: no thread of this store has these files`;
  if (derived === "skip" || folders === "shared")
    return { name: "thread folders", ok: false, detail: `${what}; delete them if no other store uses this home` };
  for (const folder of stray) await setAside(home, folder);
  const detail = `${what}; moved to ${join(home, ASIDE)}: delete them there if no other store uses this home`;
  return { name: "thread folders", ok: false, detail };
}

/** Of the threads in these files. */
async function foldersElsewhere(home: string, files: readonly string[]): Promise<ReadonlySet<string>> {
  const folders = new Set<string>();
  for (const file of files) {
    const store = await openStore(file, { access: "read" });
    try {
      for await (const own of everyUser(store))
        for await (const { header } of everyThread(own)) folders.add(threadFolder(home, header));
    } finally {
      await store.close();
    }
  }
  return folders;
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

/* Erasing that was interrupted: facts based on an erased message, and logs that still show erased facts. */

/** Nothing where all is well. */
export async function halfErasedChecks(store: Store, repository: Repository, home: string): Promise<HomeCheck[]> {
  const checks: HomeCheck[] = [];
  for await (const own of everyUser(store)) {
    const options = {
      deps: threadDeps(own),
      repository,
      cleanFiles: (threadId: string) => cleanThreadFiles(home, own, threadId),
    };
    const erasedRefs: string[] = [];
    const shown = new Set<string>();
    for (const scope of (await repository.storage.scopes?.(own.userId)) ?? []) {
      const document = await repository.storage.reload(scope);
      if (document === null) continue;
      const refs = new Set(document.facts.flatMap(({ sourceMessageIds = [] }) => sourceMessageIds));
      for (const { threadId, seq } of await erasedAmong(own, refs)) {
        const done = await eraseMessage(options, threadId, seq);
        if ("facts" in done) erasedRefs.push(...done.facts);
      }
      const names = erasedFacts(document);
      if (names.size === 0) continue;
      const { threads } = await eraseFacts(options.deps, { names, texts: [], blocks: "named" });
      for (const threadId of threads) shown.add(threadId);
    }
    if (erasedRefs.length > 0)
      checks.push(bad(own, `${erasedRefs.join(", ")} rested on messages that are erased; forgotten now`));
    if (shown.size > 0)
      checks.push(bad(own, `${[...shown].join(", ")} showed facts that are erased; erased there now`));
  }
  return checks;
}

function bad({ userId }: Store, what: string): HomeCheck {
  return { name: `erasing for ${userId}`, ok: false, detail: `was killed in between: ${what}` };
}

async function erasedAmong(store: Store, refs: Iterable<string>): Promise<{ threadId: string; seq: number }[]> {
  const messages: { threadId: string; seq: number }[] = [];
  for (const ref of refs) {
    const [, threadId, digits] = /^([^#]+)#(\d{1,15})$/.exec(ref) ?? [];
    if (threadId === undefined) continue;
    const seq = Number(digits);
    for await (const { redacted } of store.records(threadId, { range: [seq, seq], kinds: ["message"] }))
      if (redacted) messages.push({ threadId, seq });
  }
  return messages;
}

/* Search indexes, rebuilt by the same jobs that build them in the background; another process can share or finish the work. */

/** At once where the store keeps no jobs. */
export async function askForIndex(
  store: Store,
  threadId: string,
  onProgress: (threadId: string, progress: IndexProgress) => void,
): Promise<void> {
  const { outbox } = store;
  if (!isSearchable(store) || outbox?.queue === undefined)
    return rebuildIndex(store, threadId, (indexed, records) => onProgress(threadId, { indexed, records }));
  await outbox.queue(threadId, indexJob("start", Date.now()));
}

/** Waits until nothing of it is left, and works on it itself. What was given up is a check that says why. */
export async function buildIndexes(
  store: Store,
  onProgress: (threadId: string, progress: IndexProgress) => void,
): Promise<HomeCheck[]> {
  const { outbox } = store;
  if (outbox === undefined || (await outbox.list(INDEX_QUEUE)).length === 0) return [];
  // The same again is no progress: a job that was asked for anew while it ran looks once more when it has ended.
  const told = new Map<string, number>();
  const tell = (threadId: string, progress: IndexProgress): void => {
    if (told.get(threadId) === progress.indexed) return;
    told.set(threadId, progress.indexed);
    onProgress(threadId, progress);
  };
  const own = new Set<string>();
  const indexing = await startIndexing(store, {
    pollMs: LOOK_MS,
    finds: "queued",
    onEvent(event) {
      if (event.type !== "index-progress") return;
      own.add(event.threadId);
      tell(event.threadId, event);
    },
  });
  try {
    for (;;) {
      const jobs = await outbox.list(INDEX_QUEUE);
      const left = jobs.filter(({ state, error }) => state === "running" || (state === "waiting" && error === null));
      if (left.length === 0) return jobs.map(givenUp);
      const elsewhere = left.find(({ state, threadId }) => state === "running" && !own.has(threadId));
      if (elsewhere !== undefined) await tellOf(store, elsewhere, tell);
      await pause(LOOK_MS);
    }
  } finally {
    await indexing.stop();
  }
}

const LOOK_MS = 100;

/** What another process is at. */
async function tellOf(
  store: Store,
  { userId, threadId }: JobStatus,
  onProgress: (threadId: string, progress: IndexProgress) => void,
): Promise<void> {
  const segments = (await asUser(store, userId).search?.lineage(threadId)) ?? [];
  if (segments.length > 0) onProgress(threadId, progressOf(segments.slice(-1)));
}

function givenUp({ threadId, error }: JobStatus): HomeCheck {
  const detail = `${error ?? "its worker ended without a word"}; it is tried again in the background`;
  return { name: `search index of ${threadId}`, ok: false, detail };
}

/** Without a rebuild: how far one is that is under way. */
export async function indexCheck(store: Store): Promise<HomeCheck[]> {
  const progress = await indexProgress(store);
  if (progress === null) return [];
  const { threads, indexed, records } = progress;
  const of = `${threads} ${threads === 1 ? "thread" : "threads"}`;
  const detail = `${of} to be built: ${indexed} of ${records} records are indexed; a process that serves or chats does it, or --rebuild`;
  return [{ name: "search index", ok: true, detail }];
}

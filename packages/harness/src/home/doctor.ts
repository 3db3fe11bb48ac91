/**
 * What can be wrong with a home, as a list of checks that each say what to do. Looks at everything even when something
 * fails. With `rebuild` it also verifies each log and makes anew what is derived from it (head, search index, part files)
 * and reports what differed. The logs themselves are never touched, nor is the head of a broken one: it is the witness.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { errorText } from "@palimpsest/core/internal/text";
import { DEFAULT_USER } from "@palimpsest/core/log";
import { historyFolder, repairParts } from "../compaction/part-files.ts";
import { openStorage } from "../memory/open-storage.ts";
import { openRepository } from "../memory/repository.ts";
import type { IndexProgress } from "../recall/index-steps.ts";
import { scrub } from "../stores/capabilities.ts";
import type { Store } from "../stores/store.ts";
import { everyThread, everyUser } from "../stores/users.ts";
import { rebuildHead, verify } from "../thread/audit.ts";
import { sha256 } from "../thread/writer.ts";
import { adoptOldFolders } from "../workspace/old-folders.ts";
import { configChecks } from "./config-checks.ts";
import { halfErasedChecks } from "./half-erased.ts";
import { askForIndex, buildIndexes, indexCheck } from "./index-rebuild.ts";
import { leftOverChecks } from "./left-over.ts";
import { type LoadedConfig, loadConfig } from "./load.ts";
import { memoryFileCheck, memoryJobCheck } from "./memory-checks.ts";

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

export interface DoctorOptions {
  readonly home: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The configuration, where it is known; else it is looked for. */
  readonly loaded?: LoadedConfig;
  /** Why the home and the configuration are these, in words. */
  readonly reasons?: { readonly home: string; readonly config: string };
  /** Opens the store; throws what makes it unusable. Null: there is none yet. */
  readonly open: (() => Promise<Store>) | null;
  readonly derived: "skip" | "rebuild";
  /** Whether the home's folders are this store's alone, as they are unless another one was named. */
  readonly folders?: "own" | "shared";
  /** Before each thread that is verified and made anew, and while its search index is: how many of its records are in it. */
  readonly onProgress?: (done: number, threadId: string, index?: IndexProgress) => void;
}

export async function checkHome(options: DoctorOptions): Promise<Check[]> {
  const loaded = options.loaded ?? loadConfig(options);
  const checks = [...configChecks(loaded, options)];
  const storagePath = loaded.kind === "config" ? loaded.config.memory.storage_path : "memory.json";
  const files = memoryFileCheck({ base: options.home, storagePath });
  if (files !== null) checks.push(files);
  if (options.open === null) {
    const detail = `${homeOf(options)} holds no threads yet: the first import or run creates them`;
    return [...checks, { name: "home", ok: true, detail }];
  }
  try {
    const store = await options.open();
    try {
      checks.push({ name: "home", ok: true, detail: homeOf(options) });
      const engine = (await store.upkeep?.check()) ?? { ok: true, detail: "this store has no check of its own" };
      checks.push({ name: "database", ok: engine.ok, detail: engine.detail });
      const { home, derived, folders = "own" } = options;
      if (derived === "rebuild" && folders === "own" && existsSync(join(home, "threads")))
        await adoptOldFolders(home, store);
      checks.push(...(await threadChecks(store, options)));
      checks.push(...(await leftOverChecks(store, { home, derived, folders })));
      if (derived === "rebuild")
        checks.push(...(await erasureChecks(store, options, loaded)), ...(await scrubCheck(store)));
      checks.push(await memoryJobCheck(store));
    } finally {
      await store.close();
    }
  } catch (error) {
    checks.push({ name: "database", ok: false, detail: errorText(error) });
  }
  return checks;
}

/** A storage of the user's own may be anything: it isn't loaded only to be looked at. */
async function erasureChecks(store: Store, { home }: DoctorOptions, loaded: LoadedConfig): Promise<Check[]> {
  if (loaded.kind !== "config") return [];
  const { storage_path: storagePath, storage_class: storageClass } = loaded.config.memory;
  if (storageClass.includes("/")) return [];
  const storage = await openStorage({ base: home, storagePath, storageClass, store, onError: () => {} });
  return halfErasedChecks(
    store,
    openRepository(storage, () => new Date()),
    home,
  );
}

/** Nothing where all that was erased has left the engine's own files. */
async function scrubCheck(store: Store): Promise<Check[]> {
  const scrubbed = await scrub(store);
  if (scrubbed.kind === "clean") return [];
  const detail = `${scrubbed.file} may hold what was erased, until the process that is reading the database has ended`;
  return [{ name: "write-ahead file", ok: false, detail }];
}

function homeOf({ home, reasons }: DoctorOptions): string {
  return reasons === undefined ? home : `${home} (${reasons.home})`;
}

async function threadChecks(store: Store, { home, derived, onProgress }: DoctorOptions): Promise<Check[]> {
  const checks: Check[] = [];
  let count = 0;
  let bad = 0;
  for await (const own of everyUser(store)) {
    for await (const { header } of everyThread(own)) {
      count += 1;
      if (derived === "skip") continue;
      onProgress?.(count - 1, header.id);
      const failed = await rebuildThread(own, home, header.id, (id, index) => onProgress?.(count - 1, id, index));
      bad += failed.length === 0 ? 0 : 1;
      checks.push(...failed);
    }
  }
  const unread = `${count} ${count === 1 ? "thread" : "threads"}; their logs were not read: --rebuild verifies all, "palimpsest verify T" one`;
  if (derived === "skip") return [{ name: "threads", ok: true, detail: unread }, ...(await indexCheck(store))];
  checks.push(...(await buildIndexes(store, (id, index) => onProgress?.(count, id, index))));
  const detail = `${count} ${count === 1 ? "thread" : "threads"}, ${count - bad} with whole logs, and heads and part files equal to them; search index made anew`;
  return [{ name: "threads", ok: bad === 0, detail }, ...checks];
}

async function rebuildThread(
  store: Store,
  home: string,
  threadId: string,
  onIndex: (threadId: string, progress: IndexProgress) => void,
): Promise<Check[]> {
  const broken = await logCheck(store, threadId);
  if (broken !== null) return [broken];
  const checks = [await headCheck(store, threadId), await partsCheck(store, home, threadId)];
  await askForIndex(store, threadId, onIndex);
  return checks.filter((check) => check !== null);
}

/** Null when the log is whole. Folding a head from a cut log would make the cut look whole to every later check. */
async function logCheck(store: Store, threadId: string): Promise<Check | null> {
  const verdict = await verify({ store, hash: sha256 }, threadId);
  if (verdict.kind !== "broken") return null;
  const advice = "nothing of it was rebuilt: restore a backup, or fork the thread before that record";
  return { name: `log of ${named(store, threadId)}`, ok: false, detail: `${verdict.firstBad.detail}; ${advice}` };
}

async function partsCheck(store: Store, home: string, threadId: string): Promise<Check | null> {
  const head = await store.head(threadId);
  const folder = historyFolder(home, { user: store.userId, id: threadId });
  if (!head || (head.compaction === null && !existsSync(folder))) return null;
  const faults = await repairParts(folder, store, threadId, head.compaction);
  if (faults.length === 0) return null;
  const listed = faults.map(({ name, fault }) => `${name} (${fault})`).join(", ");
  return { name: `part files of ${named(store, threadId)}`, ok: false, detail: `${listed}; made anew from the log` };
}

/** Null when the head is what its log says. */
async function headCheck(store: Store, threadId: string): Promise<Check | null> {
  const name = `head of ${named(store, threadId)}`;
  try {
    const result = await rebuildHead({ store }, threadId, "write");
    if (result.kind === "different")
      return { name, ok: false, detail: `differed in ${result.fields.join(", ")}; rewritten from the log` };
    if (result.kind === "conflict")
      return { name, ok: false, detail: "the thread was written to meanwhile: run doctor again when no run is active" };
    return null;
  } catch (error) {
    return { name, ok: false, detail: errorText(error) };
  }
}

function named({ userId }: Store, threadId: string): string {
  return userId === DEFAULT_USER ? threadId : `${threadId} (${userId})`;
}

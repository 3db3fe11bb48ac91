/**
 * What can be wrong with a home, as a list of checks that each say what to do. Looks at everything even when something
 * fails. With `rebuild` it also verifies each log and makes anew what is derived from it (head, search index, part files)
 * and reports what differed. The logs themselves are never touched, nor is the head of a broken one: it is the witness.
 */
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DEFAULT_USER } from "@palimpsest/core/internal/log";
import { errorText } from "@palimpsest/core/internal/text";
import { historyFolder, repairParts } from "../compaction/part-files.ts";
import { summarizationForThreads } from "../compaction/summarization.ts";
import { openStorage } from "../features/memory/create-memory.ts";
import { MEMORY_QUEUE } from "../features/memory/queue.ts";
import { type MemoryPlace, memoryPath, openRepository } from "../features/memory/repository.ts";
import { windowNow } from "../models/facts.ts";
import { offeredModels } from "../models/resolve.ts";
import { limitsOfHome } from "../models/tokenizers.ts";
import type { IndexProgress } from "../recall/stored-index.ts";
import { everyThread, everyUser, scrub } from "../stores/driver-rules.ts";
import type { Store } from "../stores/store.ts";
import { rebuildHead, verify } from "../thread/audit.ts";
import { sha256 } from "../thread/writer.ts";
import { type LoadedConfig, loadConfig } from "./config.ts";
import { checkConfig } from "./config-file.ts";
import { smallText } from "./find.ts";
import { askForIndex, buildIndexes, halfErasedChecks, indexCheck, leftOverChecks } from "./repair.ts";
import type { ConfigFile } from "./schema.ts";

export interface HomeCheck {
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

export async function checkHome(options: DoctorOptions): Promise<HomeCheck[]> {
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
async function erasureChecks(store: Store, { home }: DoctorOptions, loaded: LoadedConfig): Promise<HomeCheck[]> {
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
async function scrubCheck(store: Store): Promise<HomeCheck[]> {
  const scrubbed = await scrub(store);
  if (scrubbed.kind === "clean") return [];
  const detail = `${scrubbed.file} may hold what was erased, until the process that is reading the database has ended`;
  return [{ name: "write-ahead file", ok: false, detail }];
}

function homeOf({ home, reasons }: DoctorOptions): string {
  return reasons === undefined ? home : `${home} (${reasons.home})`;
}

async function threadChecks(store: Store, { home, derived, onProgress }: DoctorOptions): Promise<HomeCheck[]> {
  const checks: HomeCheck[] = [];
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
): Promise<HomeCheck[]> {
  const broken = await logCheck(store, threadId);
  if (broken !== null) return [broken];
  const checks = [await headCheck(store, threadId), await partsCheck(store, home, threadId)];
  await askForIndex(store, threadId, onIndex);
  return checks.filter((check) => check !== null);
}

/** Null when the log is whole. Folding a head from a cut log would make the cut look whole to every later check. */
async function logCheck(store: Store, threadId: string): Promise<HomeCheck | null> {
  const verdict = await verify({ store, hash: sha256 }, threadId);
  if (verdict.kind !== "broken") return null;
  const advice = "nothing of it was rebuilt: restore a backup, or fork the thread before that record";
  return { name: `log of ${named(store, threadId)}`, ok: false, detail: `${verdict.firstBad.detail}; ${advice}` };
}

async function partsCheck(store: Store, home: string, threadId: string): Promise<HomeCheck | null> {
  const head = await store.head(threadId);
  const folder = historyFolder(home, { user: store.userId, id: threadId });
  if (!head || (head.compaction === null && !existsSync(folder))) return null;
  const faults = await repairParts(folder, store, threadId, head.compaction);
  if (faults.length === 0) return null;
  const listed = faults.map(({ name, fault }) => `${name} (${fault})`).join(", ");
  return { name: `part files of ${named(store, threadId)}`, ok: false, detail: `${listed}; made anew from the log` };
}

/** Null when the head is what its log says. */
async function headCheck(store: Store, threadId: string): Promise<HomeCheck | null> {
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

/* Checks of the configuration and of memory. */

function configChecks(loaded: LoadedConfig, options: DoctorOptions): readonly HomeCheck[] {
  const { reasons, env, home } = options;
  const why = reasons === undefined ? "" : ` (${reasons.config})`;
  const where = loaded.path === null ? "no config.yaml, the defaults" : `${loaded.path}${why}`;
  if (loaded.kind === "invalid")
    return [{ name: "config", ok: false, detail: `${where}: ${loaded.problems.join("; ")}` }];
  const findings = loaded.path === null ? [] : checkConfig(smallText(loaded.path), { env, home, exists: existsSync });
  const lines = findings.map(({ line, message }) => (line === null ? message : `line ${line}: ${message}`));
  const ok = findings.every(({ severity }) => severity === "warning");
  return [
    { name: "config", ok, detail: [where, ...lines].join("; ") },
    ...modelChecks(loaded.config, options),
    { name: "compaction", ok: true, detail: compactionOf(loaded.config) },
  ];
}

function modelChecks({ models, summarization }: ConfigFile, { home, env }: DoctorOptions): readonly HomeCheck[] {
  const learned = { limits: limitsOfHome(home).read(), now: Date.now() };
  const windows = models.map((model) => {
    const { tokens, source } = windowNow(model, summarization.fallback_context_window, learned);
    return `${model.name}: ${tokens} tokens ${WINDOW_SOURCES[source]}`;
  });
  if (windows.length > 0) return [{ name: "windows", ok: true, detail: windows.join("; ") }];
  const keys = offeredModels(env).map(({ from, variable }) => `${from} ($${variable})`);
  const offer = keys.length === 0 ? "" : `; keys are here for ${keys.join(", ")}`;
  const detail = `none configured, the offline model answers${offer}: "palimpsest config init" configures one`;
  return [{ name: "models", ok: true, detail }];
}

const WINDOW_SOURCES = {
  config: "(max_input_tokens)",
  table: "(known for this model)",
  fallback: "(fallback_context_window; set max_input_tokens)",
  learned: '(stated by the provider when it refused more; "palimpsest models forget" forgets it)',
};

function compactionOf({ summarization }: ConfigFile): string {
  if (!summarization.enabled)
    return 'off: a conversation grows until its window is full (summarization.enabled); "palimpsest compact T" does it once';
  try {
    const { trigger } = summarizationForThreads(summarization).policy;
    const at = trigger.map(({ type, value }) =>
      type === "fraction" ? `${Math.round(value * 100)} % of the window` : `${value} ${type}`,
    );
    return `automatic, at ${at.join(" or ")}`;
  } catch {
    // Said as a problem of the file.
    return "automatic";
  }
}

/** What memory has still to learn, and what it has given up on. */
async function memoryJobCheck(store: Pick<Store, "outbox">): Promise<HomeCheck> {
  if (store.outbox === undefined)
    return { name: "memory jobs", ok: true, detail: "this store has no outbox: nothing is learned from turns" };
  const jobs = await store.outbox.list(MEMORY_QUEUE);
  const dead = jobs.filter(({ state }) => state === "dead");
  const queued = `${jobs.length - dead.length} queued`;
  if (dead.length === 0) return { name: "memory jobs", ok: true, detail: queued };
  const named = dead.map(({ threadId, attempts, error }) => {
    return `${threadId} (${attempts} attempts: ${error ?? "its worker ended without a word"})`;
  });
  const advice = `nothing is lost: "palimpsest memory retry" tries again, and so does the thread's next turn`;
  return { name: "memory jobs", ok: false, detail: `${queued}; given up: ${some(named)}; ${advice}` };
}

/** Null where there is no file that could not be read. */
function memoryFileCheck(place: MemoryPlace): HomeCheck | null {
  const aside = setAsideUnder(place);
  if (aside.length === 0) return null;
  const advice = "a memory that couldn't be read was moved there: repair it and move it back, or delete it";
  return { name: "memory files", ok: false, detail: `${some(aside)}; ${advice}` };
}

function some(names: readonly string[]): string {
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : "";
  return `${names.slice(0, SHOWN).join(", ")}${more}`;
}

const SHOWN = 5;

/** As `setAside` names them (memory/file-storage.ts), in every folder that a scope's file may stand in. */
function setAsideUnder(place: MemoryPlace): string[] {
  const { base } = place;
  const own = memoryPath({ userId: "default", agentName: null }, place);
  const roots = [base, ...within(join(base, "users"))];
  const agents = roots.flatMap((root) => within(join(root, "agents")));
  const others = [...roots.slice(1), ...agents].map((folder) => join(folder, "memory.json"));
  return [own, ...others].flatMap((file) =>
    entries(dirname(file))
      .filter((name) => name.startsWith(`${basename(file)}.corrupt-`))
      .map((name) => join(dirname(file), name)),
  );
}

function within(folder: string): string[] {
  return entries(folder).map((name) => join(folder, name));
}

/** A folder that isn't there, or can't be read, holds nothing that could be named. */
function entries(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

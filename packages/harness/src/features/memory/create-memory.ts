/**
 * Memory in one call: where it is kept, who is asked what is worth remembering, the queue behind the turns, the middleware
 * that a run meets and the service by which people look and correct. It learns while the process runs; nothing has to be started.
 */
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type MemoryDocument, parseDocument, readDocument } from "@palimpsest/core/internal/memory";
import { errorText } from "@palimpsest/core/internal/text";
import { generateText } from "ai";
import type { ModelObject } from "../../agent/model.ts";
import type { Middleware } from "../../agent/run.ts";
import type { FullStore, Store } from "../../stores/store.ts";
import { fileStorage, inTurn } from "./file-storage.ts";
import { type MemoryMiddlewareOptions, memory } from "./middleware.ts";
import { createMemoryQueue, type Drained, type MemoryQueue } from "./queue.ts";
import { type MemoryPlace, type MemoryScope, openRepository, type Repository } from "./repository.ts";
import { type MemoryService, memoryService } from "./service.ts";
import { type EmitMemory, type MemoryStorage, MemoryStorageError, scopeKey } from "./storage.ts";
import { createUpdater, type Extract } from "./updater.ts";

export interface MemoryOptions
  extends Pick<MemoryMiddlewareOptions, "injection" | "maxInjectionTokens" | "evidenceTokens"> {
  /** The agent's: it keeps what is still to be learned and, unless there is a `storage`, what was. */
  readonly store: Store;
  /** Asked what of a turn is worth remembering; a small one does. Or a function of yours. */
  readonly model: ModelObject | Extract;
  /** Where memory is kept, if not in the store: `fileStorage`, or one of your own. */
  readonly storage?: MemoryStorage;
  /** How long a conversation must be quiet before it is learned from; 30 unless given. */
  readonly debounceSeconds?: number;
  /** 100 facts, each of a confidence of 0.7 at least, unless given. */
  readonly maxFacts?: number;
  readonly factConfidenceThreshold?: number;
  /** `by-hand`: another process learns; here only `queue.start()`, `drain` and `retry` do. */
  readonly starts?: "with-the-first-job" | "by-hand";
  readonly onEvent?: EmitMemory;
  readonly clock?: () => Date;
  readonly ids?: () => string;
}

export interface Memory {
  /** For an agent's `middleware`; `createDeepAgent` takes the whole memory. */
  readonly middleware: Middleware;
  /** Looking, correcting, forgetting, by user. */
  readonly service: MemoryService;
  /** For a loop of your own: the job of a turn, and when it runs. */
  readonly queue: MemoryQueue;
  readonly repository: Repository;
  /** Learns what is still to be learned, as far as the time allows (10 s); the rest stays queued. */
  close(limitMs?: number): Promise<Drained>;
}

/** Throws a `MemoryStorageError` for a store that can't keep memory or what is to be learned. */
export function createMemory({ model, ...options }: MemoryOptions): Memory {
  const { store, storage = inStore(store) } = options;
  if (store.outbox === undefined) throw lacking("outbox, so that nothing could be learned: use SQLite or PostgreSQL");
  return wireMemory({ ...options, storage, extract: typeof model === "function" ? model : asking(model) });
}

interface Wiring extends Omit<MemoryOptions, "model"> {
  readonly storage: MemoryStorage;
  readonly extract: Extract;
}

/** With a store that has no outbox nothing is learned, which is told once as an event. */
export function wireMemory(options: Wiring): Memory {
  const { store, extract, clock = () => new Date(), ids = randomUUID, onEvent: emit = () => {} } = options;
  const { injection, maxInjectionTokens, evidenceTokens, debounceSeconds } = options;
  const { maxFacts = 100, factConfidenceThreshold = 0.7 } = options;
  const repository = openRepository(options.storage, clock);
  const updater = createUpdater({
    store,
    repository,
    clock,
    ids,
    emit,
    extract,
    settings: { maxFacts, factConfidenceThreshold },
  });
  const queue = createMemoryQueue(store, {
    process: (job, signal) => updater.process(job, signal),
    emit,
    clock,
    debounceSeconds,
    starts: options.starts,
  });
  return {
    middleware: memory({ repository, queue, injection, maxInjectionTokens, evidenceTokens }),
    service: memoryService({ repository, clock, ids }),
    queue,
    repository,
    async close(limitMs = 10_000) {
      try {
        return await queue.drain(limitMs);
      } finally {
        await queue.stop();
      }
    },
  };
}

function inStore({ memories }: Store): MemoryStorage {
  if (memories === undefined) throw lacking("place for memory: give a storage, such as fileStorage");
  return storeStorage({ memories });
}

function lacking(what: string): MemoryStorageError {
  return new MemoryStorageError("unwritable", `the store has no ${what}`);
}

/** One request, without tools or retries: the queue tries again. */
function asking(model: ModelObject): Extract {
  return async (prompt, signal) => {
    const { text } = await generateText({ model, prompt, abortSignal: signal, maxRetries: 0 });
    return text;
  };
}

// From `storage_class` to a storage. What can't be loaded gives the file storage, and an error in the log.

export interface OpenStorageOptions extends MemoryPlace {
  /** `file`, `sqlite`, `postgres`, `./module.js#Export` (seen from the base), or the class name other tools' files hold. */
  readonly storageClass: string;
  /** The threads' store, for memory beside them. */
  readonly store?: Store;
  readonly onError: (message: string) => void;
}

export async function openStorage(options: OpenStorageOptions): Promise<MemoryStorage> {
  const { storageClass, store, onError } = options;
  const files = () => fileStorage(options);
  if (storageClass === "file" || FILE_ALIAS.test(storageClass)) return files();
  try {
    if (storageClass === "sqlite" || storageClass === "postgres") {
      if (store?.memories === undefined) throw new Error("there is no store to keep it in, or it keeps no memories");
      return storeStorage({ memories: store.memories }, storageClass);
    }
    return await loadModule(storageClass, options.base);
  } catch (error) {
    const reason = errorText(error);
    onError(
      `storage_class ${JSON.stringify(storageClass)} can't be loaded (${reason}): memory is kept in files instead.`,
    );
    return files();
  }
}

const FILE_ALIAS = /(?:^|\.)FileMemoryStorage$/;

async function loadModule(spec: string, base: string): Promise<MemoryStorage> {
  const [path = "", name = "default"] = spec.split("#");
  if (!/^(?:\.{0,2}\/|[A-Za-z]:[\\/])|\.[cm]?[jt]s$/.test(path)) {
    throw new Error("allowed are file, sqlite, postgres or ./module.js#Export");
  }
  const module = (await import(pathToFileURL(resolve(base, path)).href)) as Record<string, unknown>;
  const storage = module[name];
  const own = typeof storage === "function" ? make(storage as new () => unknown) : storage;
  if (isCustomStorage(own)) return customStorage(own, name);
  throw new Error(storage === undefined ? `it exports no ${name}` : `${name} lacks load(), reload() or save()`);
}

/** A class, or a function that returns the storage. */
function make(storage: (new () => unknown) & { readonly prototype?: object }): unknown {
  const isClass = /^class\b/.test(Function.prototype.toString.call(storage));
  return isClass ? new storage() : (storage as unknown as () => unknown)();
}

/*
 * Memory as rows beside the threads, in SQLite or PostgreSQL: compare-and-set is the database's. A document that was read
 * is kept while its revision stands: reading it anew for every turn costs more than all else a turn asks of memory.
 */

export function storeStorage({ memories }: Pick<FullStore, "memories">, name = "store"): MemoryStorage {
  const cache = new Map<string, MemoryDocument>();
  const keep = (scope: MemoryScope, document: MemoryDocument): void => {
    cache.delete(scopeKey(scope));
    cache.set(scopeKey(scope), document);
    if (cache.size > KEPT) cache.delete(cache.keys().next().value!);
  };
  const place = (scope: MemoryScope): string => `${name}:memories/${scopeKey(scope)}`;
  const read = async (scope: MemoryScope): Promise<MemoryDocument | null> => {
    const row = await memories.get(scope.userId, scope.agentName ?? "");
    if (row === undefined) return null;
    const parsed = parseDocument(row.document);
    if (parsed.kind === "unreadable") {
      throw new MemoryStorageError(
        "corrupt",
        `${place(scope)} can't be read as memory: ${parsed.reason}. It was left as it is: restore a backup.`,
      );
    }
    const document = { ...parsed.document, revision: row.revision };
    keep(scope, document);
    return document;
  };
  return {
    place,
    async load(scope) {
      const cached = cache.get(scopeKey(scope));
      const stands = cached && (await memories.revision(scope.userId, scope.agentName ?? "")) === cached.revision;
      return stands ? cached : read(scope);
    },
    reload: read,
    async scopes(userId) {
      const scopes: MemoryScope[] = [];
      for (let page = await memories.list(); page.length > 0; page = await memories.list(page.at(-1)))
        for (const key of page)
          if (key.userId === userId) scopes.push({ userId, agentName: key.agentName === "" ? null : key.agentName });
      return scopes;
    },
    async save(document, { scope, expectRevision }) {
      const row = { revision: document.revision ?? expectRevision + 1, document: JSON.stringify(document) };
      const kind = await memories.put(scope.userId, scope.agentName ?? "", row, expectRevision);
      if (kind === "saved") keep(scope, { ...document, revision: row.revision });
      return { kind };
    },
  };
}

/** Documents of the scopes that were used last. */
const KEPT = 100;

/*
 * A storage of the user's own: any class with `load`, `reload` and `save`, which need know nothing of revisions. It is
 * compared and set here, one save at a time in this process; between processes it is as safe as its author made it.
 */

/** What is asked of it. `agentName` is null for the user's own memory. */
export interface CustomStorage {
  load(agentName: string | null, options: { readonly user: string }): unknown;
  reload(agentName: string | null, options: { readonly user: string }): unknown;
  save(
    document: MemoryDocument,
    agentName: string | null,
    options: { readonly user: string; readonly expectRevision: number },
  ): unknown;
}

function isCustomStorage(value: unknown): value is CustomStorage {
  if (typeof value !== "object" || value === null) return false;
  const fields = value as Record<string, unknown>;
  return ["load", "reload", "save"].every((name) => typeof fields[name] === "function");
}

export function customStorage(own: CustomStorage, name: string): MemoryStorage {
  const place = (scope: MemoryScope): string => `${name}:${scopeKey(scope)}`;
  const read = async (how: "load" | "reload", { userId, agentName }: MemoryScope): Promise<MemoryDocument | null> => {
    const value = await own[how](agentName, { user: userId });
    if (value === null || value === undefined) return null;
    const parsed = readDocument(value);
    if (parsed.kind === "document") return parsed.document;
    throw new MemoryStorageError(
      "corrupt",
      `${place({ userId, agentName })} gave no memory document: ${parsed.reason}.`,
    );
  };
  return {
    place,
    load: (scope) => read("load", scope),
    reload: (scope) => read("reload", scope),
    save: (document, { scope, expectRevision }) =>
      inTurn(place(scope), async () => {
        const now = await read("reload", scope);
        if ((now?.revision ?? 0) !== expectRevision) return { kind: "conflict" };
        const { userId, agentName } = scope;
        const answer = await own.save(document, agentName, { user: userId, expectRevision });
        if (answer === false)
          throw new MemoryStorageError("unwritable", `${place(scope)} refused to save: see its own log.`);
        return { kind: isConflict(answer) ? "conflict" : "saved" };
      }),
  };
}

function isConflict(value: unknown): boolean {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "conflict";
}

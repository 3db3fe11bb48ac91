/** From `storage_class` to a storage. What can't be loaded gives the file storage, and an error in the log. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { errorText } from "@palimpsest/core/internal/text";
import { type MemoryDocument, parseDocument, readDocument } from "@palimpsest/core/memory";
import type { FullStore, Store } from "../stores/store.ts";
import { asUser } from "../stores/users.ts";
import { fileStorage, inTurn } from "./file-storage.ts";
import type { MemoryPlace, MemoryScope } from "./repository.ts";
import { type MemoryStorage, MemoryStorageError, scopeKey } from "./storage.ts";

export interface OpenStorageOptions extends MemoryPlace {
  /** `file`, `sqlite`, `postgres`, `./module.js#Export` (seen from the base), or the class name other tools' files hold. */
  readonly storageClass: string;
  /** The threads' store, for memory beside them. */
  readonly store?: Store;
  readonly onError: (message: string) => void;
}

export async function openStorage(options: OpenStorageOptions): Promise<MemoryStorage> {
  const { storageClass, store, onError } = options;
  const isUser = async (userId: string) =>
    store !== undefined && (await asUser(store, userId).threads({ limit: 1 })).threads.length > 0;
  const files = () => fileStorage({ ...options, isUser });
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

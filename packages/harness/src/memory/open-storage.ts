/** From `storage_class` to a storage. What can't be loaded gives the file storage, and an error in the log. */

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { errorText } from "@palimpsest/core/internal/text";
import type { Store } from "../stores/store.ts";
import { asUser } from "../stores/users.ts";
import { customStorage, isCustomStorage } from "./custom-storage.ts";
import { fileStorage } from "./file-storage.ts";
import type { MemoryPlace } from "./scope.ts";
import type { MemoryStorage } from "./storage.ts";
import { storeStorage } from "./store-storage.ts";

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

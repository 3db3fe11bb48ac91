/**
 * Opens the store a person names: a `postgres://` URL, or the path of a SQLite file. The only place that knows both
 * engines; each is loaded when it is asked for.
 */
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { SqliteOptions } from "./sqlite/connection.ts";
import type { FullStore } from "./store.ts";
import { StoreError } from "./store-error.ts";

export interface OpenOptions {
  /** `read`: what can't be written, such as a file on a read-only disk, is opened for reading only. */
  readonly access?: SqliteOptions["access"];
  /** Most connections to a PostgreSQL server at once (10); a SQLite file has one. */
  readonly connections?: number;
  /** A PostgreSQL server's own address, past any pooler, on which a gateway is woken for what happens on another one. */
  readonly listenUrl?: string | null;
  /** When a PostgreSQL store is made: its large tables in so many parts, by thread. Refused for one that is there without. */
  readonly partitions?: number;
  /** When a PostgreSQL store is made: spread over the nodes of Citus, by user. Refused for one that is there on one server. */
  readonly distributed?: boolean;
}

export async function openStore(target: string, options: OpenOptions = {}): Promise<FullStore> {
  if (typeof target !== "string")
    throw new StoreError(
      "bad-url",
      'openStore takes the path of a SQLite file or postgres://user@host/database: for example openStore("threads.db").',
    );
  const { access = "write", listenUrl = null, ...postgres } = options;
  const { connections, partitions, distributed } = postgres;
  if (connections !== undefined && !(Number.isInteger(connections) && connections > 0))
    throw new RangeError(`connections ${connections} must be a whole number above 0`);
  if (isPostgresUrl(target)) {
    const { openPostgres } = await import("./postgres.ts");
    return openPostgres(target, { listenUrl, ...postgres });
  }
  if (partitions !== undefined)
    throw new StoreError("unsuitable", `Only PostgreSQL has partitions, and ${target} is a file: leave them out.`);
  if (distributed === true)
    throw new StoreError(
      "unsuitable",
      `Only PostgreSQL with Citus is distributed, and ${target} is a file: leave it out.`,
    );
  const { openSqlite } = await import("./sqlite.ts");
  return openSqlite({ path: sqlitePath(target), access });
}

/** What `store.url` means in a home: itself for PostgreSQL, a path (seen from the home) otherwise; by default the home's own file. */
export function storeTarget(url: string | null, home: string): string {
  if (url === null || url === "") return join(home, "palimpsest.db");
  if (url.startsWith("file:")) return fileURLToPath(url);
  return isUrl(url) ? url : resolve(home, url);
}

function sqlitePath(target: string): string {
  if (target.startsWith("file:")) return fileURLToPath(target);
  if (!isUrl(target)) return target;
  const scheme = target.slice(0, target.indexOf(":"));
  throw new StoreError(
    "bad-url",
    `No store speaks ${JSON.stringify(scheme)}: give a path for SQLite, or postgres://user@host/database for PostgreSQL.`,
  );
}

export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:/i.test(text);
}

/** A scheme has two letters or more: `C:\data.db` is a path. */
function isUrl(text: string): boolean {
  return /^[a-z][a-z0-9+.-]+:/i.test(text) && !text.startsWith("./");
}

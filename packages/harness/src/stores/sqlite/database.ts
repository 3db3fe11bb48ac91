/**
 * Node's own SQLite, loaded at its first use and not with the module graph: Node 22 warns that it is experimental, which
 * a program with another store must not see.
 */
import type { DatabaseSync, DatabaseSyncOptions } from "node:sqlite";
import { StoreError } from "../store-error.ts";

export function openDatabase(path: string, options: DatabaseSyncOptions): DatabaseSync {
  const sqlite = process.getBuiltinModule("node:sqlite") as typeof import("node:sqlite") | undefined;
  if (sqlite === undefined) throw new StoreError("unsuitable", NO_SQLITE);
  return new sqlite.DatabaseSync(path, options);
}

const NO_SQLITE = `this Node (${process.versions.node}) has no SQLite: use Node 22.18 or newer, or another store`;

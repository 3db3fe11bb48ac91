/**
 * Node's own SQLite, loaded at its first use and not with the module graph: Node 22 warns that it is experimental, which
 * a program with another store must not see.
 */
import type { DatabaseSync, DatabaseSyncOptions } from "node:sqlite";

export function openDatabase(path: string, options: DatabaseSyncOptions): DatabaseSync {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  return new DatabaseSync(path, options);
}

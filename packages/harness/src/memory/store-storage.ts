/**
 * Memory as rows beside the threads, in SQLite or PostgreSQL: compare-and-set is the database's. A document that was read
 * is kept while its revision stands: reading it anew for every turn costs more than all else a turn asks of memory.
 */
import { type MemoryDocument, parseDocument } from "@palimpsest/core/memory";
import type { FullStore } from "../stores/store.ts";
import type { MemoryScope } from "./scope.ts";
import { type MemoryStorage, MemoryStorageError, scopeKey } from "./storage.ts";

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

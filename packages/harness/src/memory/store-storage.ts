/** Memory as rows beside the threads, in SQLite or PostgreSQL: compare-and-set is the database's. */
import { type MemoryDocument, parseDocument } from "@palimpsest/core/memory";
import type { Store } from "../stores/store.ts";
import type { MemoryScope } from "./scope.ts";
import { type MemoryStorage, MemoryStorageError, scopeKey } from "./storage.ts";

export function storeStorage(store: Pick<Store, "memories">, name: "sqlite" | "postgres"): MemoryStorage {
  const { memories } = store;
  const place = (scope: MemoryScope): string => `${name}:memories/${scopeKey(scope)}`;
  const read = async (scope: MemoryScope): Promise<MemoryDocument | null> => {
    const row = await memories.get(scope.user, scope.agent ?? "");
    if (row === undefined) return null;
    const parsed = parseDocument(row.document);
    if (parsed.kind === "unreadable") {
      throw new MemoryStorageError(
        "corrupt",
        `${place(scope)} can't be read as memory: ${parsed.reason}. It was left as it is: restore a backup.`,
      );
    }
    return { ...parsed.document, revision: row.revision };
  };
  return {
    place,
    load: read,
    reload: read,
    async save(document, { scope, expectRevision }) {
      const row = { revision: document.revision ?? expectRevision + 1, document: JSON.stringify(document) };
      return { kind: await memories.put(scope.user, scope.agent ?? "", row, expectRevision) };
    },
  };
}

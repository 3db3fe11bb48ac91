/**
 * Drafts that are kept in memory, for playbacks without a store.
 */
import type { DraftTable } from "../../src/compaction/drafts.ts";

export function memoryDrafts(): DraftTable {
  const kept = new Map<string, string>();
  return {
    get: async (key) => kept.get(key) ?? null,
    put: async (key, value) => void kept.set(key, value),
    drop: async (key) => void (key === undefined ? kept.clear() : kept.delete(key)),
  };
}

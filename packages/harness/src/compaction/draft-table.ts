/**
 * What is being prepared for one thread: finished chunks of a summary and the summary drafted ahead. A cache beside the
 * log: whatever can't be read or written is only done again, so its errors end here.
 */
import type { Drafts } from "../stores/store.ts";

export interface DraftTable {
  get(key: string): Promise<string | null>;
  put(key: string, value: string): Promise<void>;
  /** One draft, or all of them. */
  drop(key?: string): Promise<void>;
}

/** Where the store keeps no drafts, neither does the table: nothing is prepared ahead, and an interrupted summary starts anew. */
export function draftTable(drafts: Drafts | undefined, thread: string, clock: () => Date): DraftTable {
  if (drafts === undefined) return { get: async () => null, put: async () => {}, drop: async () => {} };
  return {
    get: async (key) => (await drafts.get(thread, key).catch(() => undefined))?.value ?? null,
    async put(key, value) {
      await drafts.put(thread, key, value, clock().toISOString()).catch(() => undefined);
    },
    drop: (key) => drafts.drop(thread, key).catch(() => undefined),
  };
}

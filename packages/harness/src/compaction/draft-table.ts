/**
 * What is being prepared for one thread: finished chunks of a summary and the summary drafted ahead. A cache beside the
 * log: whatever can't be read or written is only done again, so its errors end here.
 */
import { createHash } from "node:crypto";
import type { Drafts } from "../stores/store.ts";

/** A key may be as long as the prompt that it stands for. */
export interface DraftTable {
  get(key: string): Promise<string | null>;
  put(key: string, value: string): Promise<void>;
  /** One draft, or all of them. */
  drop(key?: string): Promise<void>;
}

/** Where the store keeps no drafts, neither does the table: nothing is prepared ahead, and an interrupted summary starts anew. */
export function draftTable(drafts: Drafts | undefined, threadId: string, clock: () => Date): DraftTable {
  if (drafts === undefined) return { get: async () => null, put: async () => {}, drop: async () => {} };
  return {
    get: async (key) => (await drafts.get(threadId, named(key)).catch(() => undefined))?.value ?? null,
    async put(key, value) {
      await drafts.put(threadId, named(key), value, clock().toISOString()).catch(() => undefined);
    },
    drop: (key) => drafts.drop(threadId, key === undefined ? key : named(key)).catch(() => undefined),
  };
}

/** The key as the store keeps it: its first word, and a hash of what was asked. */
function named(key: string): string {
  const at = key.indexOf(" ");
  return at < 0
    ? key
    : `${key.slice(0, at)}-${createHash("sha256")
        .update(key.slice(at + 1))
        .digest("hex")}`;
}

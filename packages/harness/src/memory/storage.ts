/**
 * The storage port: where memory documents live. Three methods, each for one scope; `save` writes only over the revision
 * it expects. What can't be planned for is a `MemoryStorageError` whose message says what to do.
 */
import { PalimpsestError } from "@palimpsest/core/errors";
import type { MemoryDocument } from "@palimpsest/core/memory";
import type { MemoryScope } from "./scope.ts";

export interface MemoryStorage {
  /** May come from a cache that notices other processes' writes; null: there is none yet. */
  load(scope: MemoryScope): Promise<MemoryDocument | null>;
  /** Never from a cache. */
  reload(scope: MemoryScope): Promise<MemoryDocument | null>;
  save(document: MemoryDocument, options: SaveOptions): Promise<SaveResult>;
  /** Where a scope's document is, for people. */
  place(scope: MemoryScope): string;
  /** Whose documents a user has; without it those of the agents that are asked for. */
  scopes?(userId: string): Promise<readonly MemoryScope[]>;
  /** Deletes copies beside the document (set aside, half-written) that hold one of these texts; returns where they were. */
  forgetCopies?(scope: MemoryScope, texts: readonly string[]): Promise<readonly string[]>;
}

export interface SaveOptions {
  readonly scope: MemoryScope;
  /** The revision that was read; 0: there was none. */
  readonly expectRevision: number;
}

export type SaveResult = { readonly kind: "saved" } | { readonly kind: "conflict" };

export type MemoryStorageErrorCode = "corrupt" | "locked" | "full" | "unwritable" | "unreadable";

export class MemoryStorageError extends PalimpsestError<MemoryStorageErrorCode> {
  static override readonly kind = "MemoryStorageError";

  constructor(code: MemoryStorageErrorCode, message: string, cause?: unknown) {
    super(code, message, { cause });
  }
}

export function scopeKey({ userId, agentName }: MemoryScope): string {
  return `${userId}/${agentName ?? ""}`;
}

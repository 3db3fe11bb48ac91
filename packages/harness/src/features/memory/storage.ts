/**
 * The storage port: where memory documents live. Three methods, each for one scope; `save` writes only over the revision
 * it expects. What can't be planned for is a `MemoryStorageError` whose message says what to do.
 */
import { PalimpsestError } from "@palimpsest/core/internal/errors";
import type { MemoryDocument, Refusal } from "@palimpsest/core/internal/memory";
import type { MemoryScope } from "./repository.ts";

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

/* What memory tells the outside, one union, and the line each event makes in the debug log. */

export type MemoryEvent =
  | { readonly type: "memory-queued"; readonly threadId: string; readonly messages: number }
  | { readonly type: "memory-debounced"; readonly threadId: string; readonly seconds: number }
  | { readonly type: "memory-processing"; readonly threadId: string }
  | { readonly type: "memory-extracted"; readonly threadId: string; readonly confidences: readonly number[] }
  /** A section was rewritten: `userContext.topOfMind` and the like. */
  | { readonly type: "memory-updated"; readonly threadId: string; readonly path: string }
  | { readonly type: "memory-refused"; readonly threadId: string; readonly refusals: readonly Refusal[] }
  | { readonly type: "memory-persisted"; readonly place: string; readonly revision: number }
  | {
      readonly type: "memory-injected";
      readonly threadId: string;
      readonly lane: "stable" | "evidence";
      /** Facts by id and turns as `thread#seq`. */
      readonly ids: readonly string[];
      readonly tokens: number;
      readonly hash: string;
      /** How long it was looked for. */
      readonly ms: number;
    }
  | { readonly type: "memory-failed"; readonly threadId: string | null; readonly reason: string };

export type EmitMemory = (event: MemoryEvent) => void;

/** The part of the program that says it, and what it says. */
export function memoryLogLine(event: MemoryEvent): string {
  switch (event.type) {
    case "memory-queued":
      return `[MemoryMiddleware] Queued conversation for ${event.threadId} (${event.messages} messages)`;
    case "memory-debounced":
      return `[MemoryQueue] Debouncing update for ${event.threadId} (${event.seconds}s wait)`;
    case "memory-processing":
      return `[MemoryUpdater] Processing update for ${event.threadId}`;
    case "memory-extracted": {
      const { confidences } = event;
      const listed = confidences.map((one) => one.toFixed(2)).join(", ");
      const facts = `Extracted ${confidences.length} new fact${confidences.length === 1 ? "" : "s"}`;
      return `[MemoryUpdater] ${facts}${listed === "" ? "" : ` (confidence: ${listed})`}`;
    }
    case "memory-updated":
      return `[MemoryUpdater] Updated ${event.path}`;
    case "memory-refused": {
      const reasons = event.refusals.map(({ what, reason, text }) => `${what} ${JSON.stringify(text)}: ${reason}`);
      return `[MemoryUpdater] Refused ${reasons.length} of the update (${reasons.join("; ")})`;
    }
    case "memory-persisted":
      return `[MemoryUpdater] Memory persisted to ${event.place}`;
    case "memory-injected":
      return `[MemoryMiddleware] Injected ${event.lane} memory for ${event.threadId} (${event.ids.length} items, ${event.tokens} tokens)`;
    case "memory-failed":
      return `[MemoryUpdater] Memory failed${event.threadId === null ? "" : ` for ${event.threadId}`}: ${event.reason}`;
  }
}

/** What memory tells the outside, one union, and the line each event makes in the debug log. */
import type { Refusal } from "@palimpsest/core/memory";

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

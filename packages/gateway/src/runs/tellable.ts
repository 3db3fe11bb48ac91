/**
 * What a user may be told of an event. What went wrong with a provider or the store names addresses and files of the
 * server, which are its operator's own: nobody else is told those words. Pure.
 */
import type { AgentEvent } from "palimpsest/agent";

export type Audience = "operator" | "user";

export function tellable(event: AgentEvent, audience: Audience): AgentEvent {
  if (audience === "operator") return event;
  switch (event.type) {
    case "run-end":
      if (event.end.kind !== "failed" || CLEAR.has(event.end.code)) return event;
      return { ...event, end: { ...event.end, message: HIDDEN } };
    case "model-retry":
    case "model-fallback":
    case "memory-failed":
      return { ...event, reason: HIDDEN };
    default:
      return event;
  }
}

/** Codes whose words are about what the user asked for. */
const CLEAR: ReadonlySet<string> = new Set([
  "empty-prompt",
  "nothing-to-answer",
  "bad-message",
  "no-message",
  "thread-exists",
  "bad-thread-id",
  "busy",
  "lease-lost",
  "answer-too-long",
  "too-long",
  "floor-exceeds-window",
  "loop",
  "closed",
]);

const HIDDEN = "something failed here; the server's log has it";

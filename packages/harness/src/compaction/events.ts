/**
 * Everything a compaction tells the outside, as one union, and the seeds' words for it in the debug log.
 */
import type { CompactionOutcome, CompactPlan } from "@palimpsest/core/compaction";
import type { CountSource } from "@palimpsest/core/tokens";

export type CompactionEvent =
  | {
      readonly type: "compaction-check";
      readonly tokens: number;
      readonly source: CountSource;
      readonly window: number;
    }
  | { readonly type: "compaction-trigger"; readonly reason: CompactPlan["reason"] }
  | { readonly type: "compaction-start"; readonly hide: number; readonly keep: number }
  | { readonly type: "summary-progress"; readonly done: number; readonly of: number }
  | { readonly type: "summary-written"; readonly by: "summarize" | "extract"; readonly tokens: number }
  | { readonly type: "summary-failed"; readonly reason: string; readonly detail: string }
  | { readonly type: "breaker-open"; readonly failures: number; readonly until: string }
  | { readonly type: "compaction-end"; readonly outcome: CompactionOutcome; readonly messages: number };

export type OnCompactionEvent = (event: CompactionEvent) => void;

const NAME = "[SummarizationMiddleware]";

export function logLine(event: CompactionEvent): string {
  switch (event.type) {
    case "compaction-check": {
      const percent = Math.round((100 * event.tokens) / Math.max(1, event.window));
      return `${NAME} Token count: ${event.tokens} / ${event.window} (${percent}%)`;
    }
    case "compaction-trigger":
      return typeof event.reason === "string"
        ? `${NAME} Trigger: ${event.reason}`
        : `${NAME} Trigger: ${event.reason.type} threshold met (${event.reason.value})`;
    case "compaction-start":
      return `${NAME} Summarizing ${event.hide} messages, keeping last ${event.keep}`;
    case "summary-progress":
      return `${NAME} Summarized part ${event.done} of ${event.of}`;
    case "summary-written":
      return `${NAME} Summary generated: ${event.tokens} tokens`;
    case "summary-failed":
      return `${NAME} Summarizer failed (${event.reason}): ${event.detail}`;
    case "breaker-open":
      return `${NAME} Summarizer not asked until ${event.until} after ${event.failures} failures`;
    case "compaction-end":
      return event.outcome.kind === "compacted"
        ? `${NAME} New message count: ${event.messages}, token count: ${event.outcome.tokensAfter}`
        : `${NAME} Unchanged (${event.outcome.reason}): ${event.outcome.detail}`;
  }
}

/**
 * Everything a compaction tells the outside, as one union, and DeerFlow's words for it in the debug log.
 */
import type { CompactionOutcome, CompactPlan, Floor, PlanGoal } from "@palimpsest/core/compaction";
import { PalimpsestError } from "@palimpsest/core/errors";
import type { Range } from "@palimpsest/core/log";
import type { CountSource } from "@palimpsest/core/tokens";
import type { Correction, SummaryUsage } from "./summarize.ts";

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
  | { readonly type: "summary-written"; readonly by: "summarize" | "extract" | "rollover"; readonly tokens: number }
  | { readonly type: "summary-failed"; readonly reason: string; readonly detail: string }
  /** What the summarizer said that could not stand: unknown items, impossible sources, orders, approvals. */
  | { readonly type: "summary-corrected"; readonly corrected: readonly Correction[] }
  /** What the summarizer's calls took, apart from the conversation's own usage. */
  | ({ readonly type: "summary-usage"; readonly calls: number } & SummaryUsage)
  | { readonly type: "draft-start"; readonly covers: Range }
  | { readonly type: "draft-ready"; readonly covers: Range; readonly calls: number }
  | { readonly type: "draft-dropped"; readonly covers: Range; readonly reason: string }
  | { readonly type: "draft-used"; readonly covers: Range }
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
    case "summary-corrected":
      return `${NAME} Summary corrected: ${event.corrected.map(({ what, why }) => `${why} ${JSON.stringify(what)}`).join(", ")}`;
    case "summary-usage":
      return `${NAME} Summarizer usage: ${event.calls} calls, ${event.input} tokens in, ${event.output} out`;
    case "draft-start":
      return `${NAME} Drafting a summary of ${event.covers.join("-")}`;
    case "draft-ready":
      return `${NAME} Draft of ${event.covers.join("-")} is ready`;
    case "draft-dropped":
      return `${NAME} Draft of ${event.covers.join("-")} dropped: ${event.reason}`;
    case "draft-used":
      return `${NAME} Using the draft of ${event.covers.join("-")}`;
    case "breaker-open":
      return `${NAME} Summarizer not asked until ${event.until} after ${event.failures} failures`;
    case "compaction-end":
      return event.outcome.kind === "compacted"
        ? `${NAME} New message count: ${event.messages}, token count: ${event.outcome.tokensAfter}`
        : `${NAME} Unchanged (${event.outcome.reason}): ${event.outcome.detail}`;
  }
}

/* The one compaction that can't be: no prompt fits the window, whatever is shed. */

/** No prompt exists: what can't be shed exceeds the window. Raised before any provider is called. */
export class FloorError extends PalimpsestError<"floor-exceeds-window"> {
  static override readonly kind = "FloorError";
  readonly floor: Floor;
  /** `configured`: of a window that is smaller because the provider refused more. */
  constructor(floor: Floor, configured?: number) {
    const { fixed, systems, reserve, request, summary, total, window } = floor;
    const learned =
      configured === undefined
        ? ""
        : ` (${configured} are configured, but the provider refused more than this; "palimpsest models forget" forgets that)`;
    super(
      "floor-exceeds-window",
      `the smallest possible prompt needs ${total} tokens and the window has ${window}${learned}: system prompt and tools ${fixed}, ` +
        `system messages and the acknowledgement ${systems}, reserved for the answer ${reserve}, the request ${request}, the summary ${summary}. ` +
        "Use a model with a larger window, fewer tools or a shorter system prompt.",
    );
    this.floor = floor;
  }
}

/* What a person is told of how a compaction ended. */

type Unchanged = Extract<CompactionOutcome, { kind: "unchanged" }>;

export function unchanged(reason: Unchanged["reason"], tokens: number): Unchanged {
  return { kind: "unchanged", reason, tokens, detail: WHY[reason] };
}

const WHY: Readonly<Record<Unchanged["reason"], string>> = {
  "below-trigger": "no threshold is reached and the view fits the window",
  waiting: "the view has not grown by the minimum gain since the last attempt, and it fits",
  "nothing-to-cut": "everything that could be hidden is already hidden or must be kept",
  "no-shrink": "the result would not be smaller than what it replaces",
  aborted: "it was stopped before anything was written",
  busy: "another run holds the thread",
  conflict: "somebody else wrote to the thread first",
  "no-history": "there is no stored history to compact",
};

/** Null where all that was promised is kept below the trigger: the low-water mark is an aim. */
export function shortfallOf(goal: PlanGoal): string | null {
  return goal === "low-water" || goal === "keep" ? null : SHORTFALL[goal];
}

const SHORTFALL = {
  less: "there is no room below the trigger for all that keep promises: less of it was kept, or long messages were shortened",
  window: "the view fits the window, but what must stand is above the low-water mark",
} as const;

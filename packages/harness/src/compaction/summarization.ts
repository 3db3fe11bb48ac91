/**
 * The `summarization` settings in both spellings: the file's snake_case and the options of `createDeepAgent`, which has
 * defaults of its own. Both come to the planner's `Policy` and what the compactor needs beside it.
 */
import {
  type CompactionOutcome,
  type Floor,
  isCeilings,
  type Keep,
  type PlanGoal,
  type Policy,
  policyProblems,
  type Threshold,
} from "@palimpsest/core/internal/compaction";
import { PalimpsestError } from "@palimpsest/core/internal/errors";
import type { SummaryFormat } from "@palimpsest/core/internal/log";
import type { SummarizationFile } from "../home/schema.ts";
import type { CompactionEvent } from "./events.ts";

/** What a file keeps that says nothing about it. */
export const DEFAULT_KEEP = { type: "messages" as const, value: 20 };

export interface Summarization {
  readonly automatic: boolean;
  readonly policy: Policy;
  readonly modelName: string | null;
  readonly trimTokensToSummarize: number | null;
  readonly summaryPrompt: string | null;
  readonly reservedOutputTokens: number;
  readonly fallbackContextWindow: number;
  readonly maxSummarizerCalls: number;
  /** Whether the next summary is written ahead of its trigger. */
  readonly drafts: boolean;
  readonly prune: PruneSettings;
}

export interface PruneSettings {
  readonly enabled: boolean;
  readonly from: number | null;
  readonly protectTokens: number;
  readonly minGainTokens: number;
}

/** Options of `createDeepAgent`: the trigger and keep spelling, or the fractions' spelling, never both. */
export interface SummarizationOptions {
  readonly trigger?: Threshold | readonly Threshold[];
  /** Null, or not said: whole turns, newest first, as far as they fit under the low-water mark. */
  readonly keep?: Keep | null;
  readonly triggerFraction?: number;
  readonly keepRecentMessages?: number;
  readonly keepRecentFraction?: number;
  readonly fallbackContextWindow?: number;
  readonly reservedOutputTokens?: number;
  readonly trimTokensToSummarize?: number | null;
  readonly summaryPrompt?: string | null;
  readonly summaryFormat?: SummaryFormat;
  /** `rollover`: at the trigger a fresh window starts with rules, notes, typed state and the last request. */
  readonly style?: "summary" | "rollover" | undefined;
  readonly maxSummaryTokens?: number | null;
  /** Null, or not said: 0.6, and where keep isn't said less from 8,000 tokens on, 0.54 from 32,000. */
  readonly lowWater?: number | null;
  readonly minGain?: number;
  readonly maxSummarizerCalls?: number;
  readonly drafts?: boolean;
  readonly modelName?: string | null;
  readonly prune?: Partial<PruneSettings>;
}

/** Thrown at construction, with every problem at once: a program's own settings are wrong, so it must not start. */
export class SettingsError extends PalimpsestError<"settings"> {
  static override readonly kind = "SettingsError";
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super("settings", `summarization can't be used as set: ${problems.join("; ")}`);
    this.problems = problems;
  }
}

export function summarizationFromFile(file: SummarizationFile): Summarization {
  return checked({
    automatic: file.enabled,
    policy: {
      trigger: listOf(file.trigger ?? []),
      keep: file.keep,
      lowWater: file.low_water,
      minGain: file.min_gain,
      maxSummaryTokens: file.max_summary_tokens,
      summaryFormat: file.summary_format,
      style: file.policy,
    },
    modelName: file.model_name,
    trimTokensToSummarize: file.trim_tokens_to_summarize,
    summaryPrompt: file.summary_prompt,
    reservedOutputTokens: file.reserved_output_tokens,
    fallbackContextWindow: file.fallback_context_window,
    maxSummarizerCalls: file.max_summarizer_calls,
    drafts: file.drafts,
    prune: {
      enabled: file.prune.enabled,
      from: file.prune.from,
      protectTokens: file.prune.protect_tokens,
      minGainTokens: file.prune.min_gain_tokens,
    },
  });
}

/**
 * For a compaction that a person asks for: a file that names no trigger says nothing about when and how much, so the
 * trigger and keep of `createDeepAgent` stand in.
 */
export function summarizationForThreads(file: SummarizationFile): Summarization {
  const settings = summarizationFromFile(file);
  if (file.trigger !== undefined) return settings;
  const { policy } = summarizationFromOptions();
  const untouched = JSON.stringify(file.keep) === JSON.stringify(DEFAULT_KEEP);
  const keep = untouched ? policy.keep : file.keep;
  return checked({ ...settings, policy: { ...settings.policy, trigger: policy.trigger, keep } });
}

/** The same policy as options of `openThread`; false if nothing is compacted by itself. */
export function summarizationOptions(settings: Summarization): SummarizationOptions | false {
  const { automatic, policy, ...rest } = settings;
  return automatic && policy.trigger.length > 0 ? { ...rest, ...policy } : false;
}

/** How far a summarizer goes that was told nothing. */
export const SUMMARIZER_BOUNDS: Pick<
  Summarization,
  "trimTokensToSummarize" | "summaryPrompt" | "reservedOutputTokens" | "maxSummarizerCalls"
> = { trimTokensToSummarize: null, summaryPrompt: null, reservedOutputTokens: 4096, maxSummarizerCalls: 8 };

export function summarizationFromOptions(options: SummarizationOptions = {}): Summarization {
  const fractions = ["triggerFraction", "keepRecentMessages", "keepRecentFraction"] as const;
  const both = (options.trigger ?? options.keep) !== undefined && fractions.some((key) => options[key] !== undefined);
  if (both) throw new SettingsError([`use either trigger and keep, or ${fractions.join(", ")}, not both`]);
  if (Array.isArray(options.trigger) && options.trigger.length === 0) throw new SettingsError([EMPTY_TRIGGER]);
  const spelled = fractions.some((key) => options[key] !== undefined);
  const ceilings: Keep = [
    { type: "messages", value: options.keepRecentMessages ?? 6 },
    { type: "fraction", value: options.keepRecentFraction ?? 0.25 },
  ];
  return checked({
    automatic: true,
    policy: {
      trigger: listOf(options.trigger ?? { type: "fraction", value: options.triggerFraction ?? 0.85 }),
      keep: options.keep ?? (spelled ? ceilings : null),
      lowWater: options.lowWater ?? null,
      minGain: options.minGain ?? 0.1,
      maxSummaryTokens: options.maxSummaryTokens ?? null,
      summaryFormat: options.summaryFormat ?? "pair",
      style: options.style ?? "summary",
    },
    modelName: options.modelName ?? null,
    trimTokensToSummarize: options.trimTokensToSummarize ?? SUMMARIZER_BOUNDS.trimTokensToSummarize,
    summaryPrompt: options.summaryPrompt ?? SUMMARIZER_BOUNDS.summaryPrompt,
    reservedOutputTokens: options.reservedOutputTokens ?? SUMMARIZER_BOUNDS.reservedOutputTokens,
    fallbackContextWindow: options.fallbackContextWindow ?? 32_768,
    maxSummarizerCalls: options.maxSummarizerCalls ?? SUMMARIZER_BOUNDS.maxSummarizerCalls,
    drafts: options.drafts ?? true,
    prune: { enabled: true, from: null, protectTokens: 8_000, minGainTokens: 5_000, ...options.prune },
  });
}

const EMPTY_TRIGGER =
  'trigger is an empty list: give a threshold such as { type: "fraction", value: 0.85 }, or leave it out; summarization: false turns it off';

function checked(settings: Summarization): Summarization {
  const problems = [...policyProblems(settings.policy), ...numberProblems(settings)];
  if (problems.length > 0) throw new SettingsError(problems);
  return settings;
}

function numberProblems({ policy, prune, ...settings }: Summarization): string[] {
  const { reservedOutputTokens, fallbackContextWindow, maxSummarizerCalls, trimTokensToSummarize } = settings;
  const whole = { reservedOutputTokens, fallbackContextWindow, maxSummarizerCalls };
  const orNull = { trimTokensToSummarize, maxSummaryTokens: policy.maxSummaryTokens, "prune.from": prune.from };
  const fromZero = { "prune.protectTokens": prune.protectTokens, "prune.minGainTokens": prune.minGainTokens };
  const below = (least: number) => (value: number | null) => !(Number.isInteger(value) && value! >= least);
  const named = (
    values: Readonly<Record<string, number | null>>,
    wrong: (value: number | null) => boolean,
    what: string,
  ) => Object.entries(values).flatMap(([name, value]) => (wrong(value) ? [`${name} ${value} must be ${what}`] : []));
  const { drafts } = settings;
  return [
    ...(typeof drafts === "boolean" ? [] : [`drafts ${JSON.stringify(drafts)} must be true or false`]),
    ...named(whole, below(1), "a whole number above 0"),
    ...named(orNull, (value) => value !== null && below(1)(value), "a whole number above 0, or null"),
    ...named(fromZero, below(0), "a whole number from 0 on"),
  ];
}

function listOf(value: Threshold | readonly Threshold[]): readonly Threshold[] {
  return isCeilings(value) ? value : [value];
}

// DeerFlow's words for a compaction's events, in the debug log.

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

// What a person is told of how a compaction ended.

type Unchanged = Extract<CompactionOutcome, { kind: "unchanged" }>;

export function unchanged(reason: Unchanged["reason"], tokens: number): Unchanged {
  return { kind: "unchanged", reason, tokens, detail: WHY[reason] };
}

const WHY: Readonly<Record<Unchanged["reason"], string>> = {
  "below-trigger": "no threshold is reached and the view fits the window",
  waiting: "the view has not grown by the minimum gain since the last attempt, and it fits",
  "nothing-to-cut": "nothing is old enough to hide, or what is must be kept or is hidden already",
  "no-shrink": "the result would not be smaller than what it replaces, or hardly",
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
  window: "the prompt fits the window, but what may not be hidden takes more than a compaction aims at",
} as const;

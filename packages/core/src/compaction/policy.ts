/**
 * What a user may ask of compaction: thresholds, what is kept, what it comes to in tokens for one window, and whether a trigger
 * is reached (`isReached`). Reads sizes of messages, never their words.
 */
import { applyPrunes } from "../log/apply-prune.ts";
import type { Head } from "../log/head.ts";
import type { PruneEntry, PruneRecord, SummaryFormat } from "../log/record.ts";
import type { Prompt } from "../prompt/prompt.ts";
import { sizesOf } from "../prompt/sizer.ts";
import { UNREPORTED_MARGIN } from "../tokens/account.ts";
import type { Count } from "../tokens/internal.ts";

/**
 * `tokens` and `messages` speak of the conversation: the view without system prompt, system messages and tools. `fraction`
 * is of the model's input window; as a trigger it speaks of the whole request.
 */
export interface Threshold {
  readonly type: "fraction" | "tokens" | "messages";
  readonly value: number;
}

/** One threshold is a promise (at least this much stays), a list is a set of ceilings (the one that keeps fewest wins). */
export type Keep = Threshold | readonly Threshold[];

export interface Policy {
  readonly trigger: readonly Threshold[];
  /** Null: whole turns, newest first, as far as they fit under the low-water mark. */
  readonly keep: Keep | null;
  /** A compaction aims at or under this share of what the trigger leaves to the conversation. Null: 0.6; see `lowWaterShare`. */
  readonly lowWater: number | null;
  /** Share of the trigger, in its own unit, the view must have grown by before the next attempt. */
  readonly minGain: number;
  /** Null: a tenth of the window; in a small one up to 1,600 or a fifth, in a large one 4,000 at most. */
  readonly maxSummaryTokens: number | null;
  readonly summaryFormat: SummaryFormat;
  /** `rollover`: each compaction starts a fresh window with notes, typed state and the last request. `summary` unless told. */
  readonly style?: "summary" | "rollover" | undefined;
}

/** Of a fresh window: the last request, or what is open in its turn. */
const LAST_REQUEST: Keep = [{ type: "messages", value: 1 }];

/** What a policy keeps, as its style has it. */
export function styled(policy: Policy): Policy {
  return policy.style === "rollover" ? { ...policy, keep: LAST_REQUEST } : policy;
}

/** Tokens of the model's input window, and what is set aside in it for the answer. */
export interface Window {
  readonly size: number;
  readonly reserve: number;
  /** What was configured, if the provider has refused a prompt of that size. */
  readonly configured?: number | undefined;
}

/** What of a window may be filled: before the first report a little less of it. */
export function usableWindow({ size, reserve }: Window, { source }: Count): Window {
  if (source !== "estimated") return { size, reserve };
  return { size, reserve: Math.ceil(size - (size - reserve) / UNREPORTED_MARGIN) };
}

/** All tokens are of the whole request. */
export interface Limits {
  /** The most a request may count. */
  readonly fits: number;
  /** The lowest token trigger; a request that doesn't fit always asks for a compaction. */
  readonly trigger: number;
  readonly lowWater: number;
  readonly minGain: number;
  readonly maxSummary: number;
  /** What quotes of the model's own writing may take beside the summary. */
  readonly maxQuotes: number;
  /** The lowest message trigger, if any. */
  readonly messages: { readonly trigger: number; readonly minGain: number } | null;
}

const WHOLE_WINDOW: Threshold = { type: "fraction", value: 1 };

/** `outside` is what no compaction removes and `tokens` doesn't speak of: system prompt, system messages, tools. */
export function limitsOf(policy: Policy, window: Window, outside: number): Limits {
  const fits = Math.max(0, Math.floor(window.size - window.reserve));
  const tokenTriggers = policy.trigger.filter(({ type }) => type !== "messages");
  const trigger = Math.min(fits + 1, ...tokenTriggers.map((each) => requestTokens(each, window, outside)));
  const messageTriggers = policy.trigger.filter(({ type }) => type === "messages");
  const fewest = messageTriggers.toSorted((one, other) => one.value - other.value)[0];
  const lowWater = Math.min(fits, Math.floor(outside + lowWaterShare(policy, window) * Math.max(0, trigger - outside)));
  const most = Math.floor(SUMMARY_SHARE * (lowWater - outside));
  const maxSummary = policy.maxSummaryTokens ?? Math.max(0, Math.min(summaryShare(window.size), most));
  const limits = {
    fits,
    trigger,
    minGain: Math.min(...[WHOLE_WINDOW, ...tokenTriggers].map((each) => gainOf(each, policy, window))),
    maxSummary,
    messages: fewest === undefined ? null : { trigger: fewest.value, minGain: gainOf(fewest, policy, window) },
  };
  return withLowWater(limits, outside, lowWater);
}

/**
 * Without a `keep`, everything that fits under the mark is kept, so that the mark sets the size of every request: there it
 * is lower in a window in which quotes and tail have room all the same.
 */
function lowWaterShare({ lowWater, keep }: Policy, { size }: Window): number {
  if (lowWater !== null) return lowWater;
  if (keep !== null) return SMALL_WINDOW.share;
  const way = (size - SMALL_WINDOW.size) / (LARGE_WINDOW.size - SMALL_WINDOW.size);
  return SMALL_WINDOW.share + Math.min(1, Math.max(0, way)) * (LARGE_WINDOW.share - SMALL_WINDOW.share);
}

const SMALL_WINDOW = { size: 8_000, share: 0.6 };
const LARGE_WINDOW = { size: 32_000, share: 0.54 };

/** The same with another low-water mark. */
export function withLowWater(
  limits: Omit<Limits, "lowWater" | "maxQuotes">,
  outside: number,
  lowWater: number,
): Limits {
  const beside = lowWater - outside - limits.maxSummary;
  return { ...limits, lowWater, maxQuotes: Math.max(0, Math.floor(QUOTE_SHARE * beside)) };
}

/** Of what the low-water mark leaves to the conversation, what a summary may take at most. */
const SUMMARY_SHARE = 0.6;
/** Of what the low-water mark leaves beside the summary. */
const QUOTE_SHARE = 0.75;

function summaryShare(window: number): number {
  return Math.floor(Math.min(window * 0.2, Math.max(window * 0.1, 1600), 4000));
}

/** How much must be said after an attempt before this threshold may start the next one, in its own unit. */
function gainOf(threshold: Threshold, { minGain }: Policy, window: Window): number {
  const tokens = tokensOf(threshold, window);
  if (tokens === null) return Math.max(1, Math.floor(threshold.value * minGain));
  return Math.floor(Math.min(window.size, tokens) * minGain);
}

/** The whole request's tokens at which a token threshold is reached. */
function requestTokens(threshold: Threshold, window: Window, outside: number): number {
  const tokens = tokensOf(threshold, window) ?? Number.POSITIVE_INFINITY;
  return threshold.type === "tokens" ? tokens + outside : tokens;
}

/** Null for a threshold that counts messages. */
function tokensOf({ type, value }: Threshold, window: Window): number | null {
  if (type === "messages") return null;
  return type === "fraction" ? Math.floor(window.size * value) : value;
}

/** Problems of an invalid policy, one sentence each; empty if it is valid. */
export function policyProblems(policy: Policy): string[] {
  const problems = [
    ...policy.trigger.flatMap((threshold) => thresholdProblems("trigger", threshold)),
    ...(policy.keep === null ? [] : keepProblems(policy.keep)),
  ];
  if (problems.length === 0 && isPromise(policy.keep)) problems.push(...keepClashes(policy.keep, policy.trigger));
  if (!["pair", "user", "system"].includes(policy.summaryFormat)) {
    problems.push(
      `summary_format ${JSON.stringify(policy.summaryFormat)} is not known: it must be pair, user or system`,
    );
  }
  if (policy.lowWater !== null && !(policy.lowWater > 0 && policy.lowWater <= 1)) {
    problems.push(`low_water ${policy.lowWater} must be above 0 and at most 1`);
  }
  if (!(policy.minGain >= 0 && policy.minGain < 1)) {
    problems.push(`min_gain ${policy.minGain} must be at least 0 and below 1`);
  }
  return problems;
}

/** The same for a keep by itself. */
export function keepProblems(keep: Keep): string[] {
  const keeps = isCeilings(keep) ? keep : [keep];
  if (keeps.length === 0) return ["keep is an empty list: give one threshold, or at least one ceiling"];
  return keeps.flatMap((threshold) => thresholdProblems("keep", threshold));
}

export function isCeilings(keep: Keep | null): keep is readonly Threshold[] {
  return Array.isArray(keep);
}

/** At least so much stays. */
export function isPromise(keep: Keep | null): keep is Threshold {
  return keep !== null && !isCeilings(keep);
}

function keepClashes(keep: Threshold, triggers: readonly Threshold[]): string[] {
  const clash = triggers.find((trigger) => trigger.type === keep.type && keep.value >= trigger.value);
  if (clash === undefined) return [];
  return [
    `keep ${keep.value} ${keep.type} is not below the trigger ${clash.value} ${clash.type}: ` +
      "a compaction could never free anything; lower keep or raise the trigger",
  ];
}

function thresholdProblems(where: string, threshold: Threshold): string[] {
  if (typeof threshold !== "object" || threshold === null) {
    const thresholdText = JSON.stringify(threshold);
    return [`${where} ${thresholdText} is no threshold: give one such as { type: "messages", value: 20 }`];
  }
  const { type, value } = threshold;
  if (type !== "fraction" && type !== "tokens" && type !== "messages") {
    return [`${where} type ${JSON.stringify(type)} is not known: it must be fraction, tokens or messages`];
  }
  if (!Number.isFinite(value) || value <= 0) return [`${where} ${type} ${value} must be a number above 0`];
  if (type === "fraction" && value > 1) {
    return [`${where} fraction ${value} must be at most 1: it is a share of the window`];
  }
  if (type !== "fraction" && !Number.isInteger(value)) return [`${where} ${type} ${value} must be a whole number`];
  return [];
}

/** `sizes` are the tokens of the messages that may be kept or hidden, in order. */
export function keepFrom(sizes: readonly number[], keep: Keep, window: Window): number {
  if (!isCeilings(keep)) return promised(sizes, keep, window);
  return Math.max(0, ...keep.map((ceiling) => allowed(sizes, ceiling, window)));
}

/** The shortest tail that holds at least the promised amount. */
function promised(sizes: readonly number[], keep: Threshold, window: Window): number {
  const tokens = tokensOf(keep, window);
  if (tokens === null) return Math.max(0, sizes.length - Math.max(0, Math.floor(keep.value)));
  let sum = 0;
  let index = sizes.length;
  while (index > 0 && sum < tokens) sum += sizes[--index]!;
  return index;
}

/** The longest tail that stays within the ceiling. */
function allowed(sizes: readonly number[], ceiling: Threshold, window: Window): number {
  const tokens = tokensOf(ceiling, window);
  if (tokens === null) return Math.max(0, sizes.length - Math.max(0, Math.floor(ceiling.value)));
  let sum = 0;
  let index = sizes.length;
  while (index > 0 && sum + sizes[index - 1]! <= tokens) sum += sizes[--index]!;
  return index;
}

/*
 * Whether a view asks to be compacted: any threshold reached starts it, compared with `>=`, every time. After an attempt
 * a threshold waits until a share of itself was said, in its own unit.
 */

interface Fill {
  /** The whole request: system prompt, tool schemas, messages. */
  readonly tokens: number;
  /** Of them, what isn't conversation: system prompt, system messages, tool schemas. */
  readonly outside: number;
  /** Messages in the view, system messages not counted. */
  readonly messages: number;
}

/** What was said since the last attempt. */
export interface Growth {
  readonly tokens: number;
  readonly messages: number;
}

type TriggerCheck =
  | { readonly kind: "below-trigger" }
  | { readonly kind: "waiting" }
  | { readonly kind: "met"; readonly threshold: Threshold };

/** What was said after a record; null for the beginning. */
export function grownSince<M>({ entries, factor }: Prompt<M>, seq: number): Growth | null {
  if (seq === 0) return null;
  let tokens = 0;
  let messages = 0;
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index]!;
    if (entry.source !== "message" || (entry.seq ?? 0) <= seq) break;
    tokens += entry.size.text + entry.size.images;
    if (entry.role !== "system") messages += 1;
  }
  return { tokens: Math.ceil(tokens * factor), messages };
}

/** Seq of the last thing that changed the view's size on purpose; 0 when nothing has. */
export function lastAct(head: Head, prunes: readonly PruneRecord[]): number {
  const clamps = prunes.filter(({ entries }) => entries.some(({ reason }) => reason === "clamped"));
  return Math.max(head.compaction ?? 0, head.undone?.seq ?? 0, clamps.at(-1)?.seq ?? 0);
}

/** `grown` is null when there was no attempt. */
export function checkTrigger(policy: Policy, fill: Fill, grown: Growth | null, window: Window): TriggerCheck {
  const reached = policy.trigger.filter((threshold) => isReached(threshold, fill, window));
  if (reached.length === 0) return { kind: "below-trigger" };
  const due = reached.find((threshold) => {
    if (grown === null) return true;
    const growth = threshold.type === "messages" ? grown.messages : grown.tokens;
    return growth >= gainOf(threshold, policy, window);
  });
  return due === undefined ? { kind: "waiting" } : { kind: "met", threshold: due };
}

function isReached(threshold: Threshold, { tokens, outside, messages }: Fill, window: Window): boolean {
  const value = tokensOf(threshold, window);
  if (value === null) return messages >= threshold.value;
  return threshold.type === "tokens" ? tokens - outside >= value : tokens >= value;
}

/** Of a prompt, what a compaction that a person asks for must save. What a trigger or a refusal asks for may save any amount. */
const LEAST_SAVED = 0.01;

interface AskedCompaction {
  readonly cause: "automatic" | "manual" | "overflow";
  readonly style?: Policy["style"];
}

/** What must be saved of so many tokens, or nothing is written. */
export function leastSaved({ cause, style }: AskedCompaction, tokens: number): number {
  return cause === "manual" && style !== "rollover" ? Math.max(1, LEAST_SAVED * tokens) : 1;
}

/** The current request where it was too long: its tokens, and how many of its beginning and its end the model sees. */
export interface ShortenedRequest {
  readonly seq: number;
  readonly tokens: number;
  readonly first: number;
  readonly last: number;
}

/** Null: it is whole, or there is none. */
export function shortenedRequest<M>(prompt: Prompt<M>, entries: readonly PruneEntry[]): ShortenedRequest | null {
  const request = prompt.entries.findLast(({ role, seq }) => role === "user" && seq !== null);
  const cuts = entries.filter(({ target, reason }) => reason === "clamped" && target === request?.seq);
  if (request?.seq == null || cuts.length === 0) return null;
  const { text: count, entry } = sizesOf(prompt);
  const last = cuts.reduce((sum, { replacement }) => sum + count(replacement.split(AFTER_CUT)[1] ?? ""), 0);
  const shown = entry(request, applyPrunes(request.message, cuts, prompt.sizer.shape));
  return { seq: request.seq, tokens: entry(request), first: Math.max(0, shown - last), last };
}

/** What a clamp leaves between head and tail ends so. */
const AFTER_CUT = " ...]\n";

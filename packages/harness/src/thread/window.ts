/**
 * The window of the model that is asked: as configured, less what its provider has stated or shown while refusing.
 * Limits are remembered for a day, and for the next process where there is a store for them. A limit below what the provider took
 * before is not believed: one that refuses now and then would shrink the window until nothing fits. Also here: which errors of
 * a provider say that a prompt was too long (`overflowOf`), with each provider's words for it (`TOO_LONG`).
 */
import type { Window } from "@palimpsest/core/internal/compaction";
import type { AiSdkMessage } from "@palimpsest/core/internal/message";
import type { Prices } from "@palimpsest/core/internal/pricing";
import type { Prompt } from "@palimpsest/core/internal/prompt";
import { effectiveWindow, endpointKey, type LearnedLimits, learnLimit } from "@palimpsest/core/internal/tokens";
import type { SystemModelMessage } from "ai";
import { SettingsError } from "../compaction/summarization.ts";
import { statusOf, unwrapped } from "../models/call-error.ts";
import type { LimitsStore } from "../models/tokenizers.ts";
import type { ThreadLog } from "./thread.ts";

export interface LearnedWindow {
  window(): Window;
  /**
   * The provider refused. Not believed when it has taken more before. What it stated is kept for other threads and the next process,
   * unless one of them was given more; a guess from the size it refused is not.
   */
  learn(refusal: ProviderRefusal): void;
  /** The provider took a prompt. */
  accept(prompt: AcceptedPrompt): void;
}

export interface ProviderRefusal {
  /** It takes no more than this. */
  readonly limit: number;
  readonly from: "stated" | "guessed";
  /** What it refused, by our own count. */
  readonly counted: number;
}

export interface AcceptedPrompt {
  /** As the provider counts; null where it reports nothing. */
  readonly reported: number | null;
  /** By our own count. */
  readonly counted: number;
}

export interface ModelWindowOptions {
  /** Whose limits these are. */
  readonly endpoint: Parameters<typeof learnLimit>[1];
  /** As configured. */
  readonly window: () => number;
  /** What is kept free for the answer in a window of this size; at most half of it. */
  readonly reserve: (size: number) => number;
  readonly clock: () => Date;
  readonly limitsStore: LimitsStore | null;
}

export function createModelWindow({
  endpoint,
  window,
  reserve,
  clock,
  limitsStore,
}: ModelWindowOptions): LearnedWindow {
  let limits: LearnedLimits = limitsStore?.read() ?? {};
  let own: Accepted = NOTHING_ACCEPTED;
  const everybody = limitsStore === null ? null : acceptedWith(limitsStore);
  const key = endpointKey(endpoint);
  const now = (): number => clock().getTime();
  return {
    window() {
      const at = now();
      const learned = effectiveWindow(window(), { limits, endpoint, now: at });
      const told = effectiveWindow(window(), { limits: limitsStore?.latest?.() ?? {}, endpoint, now: at });
      const size = told.tokens < surelyAccepted(own) ? learned.tokens : Math.min(learned.tokens, told.tokens);
      const configured = size < window() ? window() : undefined;
      return { size, reserve: Math.min(reserve(size), Math.floor(size / 2)), configured };
    },
    accept(prompt) {
      own = withAccepted(own, prompt);
      everybody?.set(key, withAccepted(everybody.get(key) ?? NOTHING_ACCEPTED, prompt));
    },
    learn(refusal) {
      const learnedAt = now();
      if (contradicts(refusal, own)) return;
      const limit = { tokens: refusal.limit, learnedAt };
      limits = learnLimit(limits, endpoint, limit);
      const ofAll = everybody?.get(key) ?? NOTHING_ACCEPTED;
      const isForAll = refusal.from === "stated" && !contradicts(refusal, ofAll);
      // Others may have learned since.
      if (isForAll) limitsStore?.keep(learnLimit(limitsStore.read(), endpoint, limit));
    },
  };
}

/** Under no number at all, such as that of a setting which isn't there, nothing would ever be too long. */
export function checkedWindow(window: number | (() => number)): () => number {
  return () => {
    const size = typeof window === "function" ? window() : window;
    if (typeof size === "number" && size > 0) return size;
    throw new SettingsError([`window ${size} must be a number of tokens above 0`]);
  };
}

/** The largest prompts that were taken: by the provider's reports, and by our own count where it reported nothing. */
export interface Accepted {
  readonly reported: number;
  readonly counted: number;
}

export const NOTHING_ACCEPTED: Accepted = { reported: 0, counted: 0 };

export function withAccepted(before: Accepted, { reported, counted }: AcceptedPrompt): Accepted {
  return reported === null
    ? { ...before, counted: Math.max(before.counted, counted) }
    : { ...before, reported: Math.max(before.reported, reported) };
}

/** Whether the provider took more before than it says now that it takes. Counts of ours are compared with each other only. */
export function contradicts({ limit, counted }: ProviderRefusal, accepted: Accepted): boolean {
  return limit < surelyAccepted(accepted) || counted <= accepted.counted;
}

/** As the provider counts. A count of ours may be far from its own: half of it is sure. */
function surelyAccepted({ reported, counted }: Accepted): number {
  return Math.max(reported, Math.floor(counted / 2));
}

/** What endpoints have taken from the threads that share a place for limits. */
function acceptedWith(limitsStore: LimitsStore): Map<string, Accepted> {
  const known = acceptedBy.get(limitsStore) ?? new Map<string, Accepted>();
  acceptedBy.set(limitsStore, known);
  return known;
}

const acceptedBy = new WeakMap<LimitsStore, Map<string, Accepted>>();

/** After a refusal: what the provider said it takes, in our own count. The modelWindow learns it, so that the next prompt is planned for it. */
export function windowAfter(overflow: Overflow, modelWindow: LearnedWindow, counted: number) {
  const { kind, limit } = overflow;
  if (kind === "tokens")
    modelWindow.learn({ limit: limit ?? counted, from: limit === null ? "guessed" : "stated", counted });
  const { size: most, reserve, configured = most } = modelWindow.window();
  const size = Math.min(fittingSize(overflow, { counted, size: most }), Math.floor(counted * SHRINK) + reserve);
  return { size, reserve: Math.min(reserve, size / 2), configured };
}

/** What was refused is sent again this much smaller at least. */
const SHRINK = 0.9;

/** Where the provider counted the same prompt differently, its limit is scaled to our count. */
function fittingSize({ kind, requested }: Overflow, { counted, size }: { counted: number; size: number }): number {
  if (kind === "bytes") return Math.floor(Math.min(size, counted) / 2);
  return Math.floor(requested !== null && requested > counted ? (size * counted) / requested : size);
}

// Tells "the prompt is too long" from every other refusal, in each provider's own words: by status, error code,
// body or finish reason. Reads the limit and the prompt's size where the provider states them.

export interface Overflow {
  /** `tokens`: the window is too small for it. `bytes`: the request's body is too large, whatever it counts. */
  readonly kind: "tokens" | "bytes";
  /** The window the provider stated, and the size of the prompt as it counted it. */
  readonly limit: number | null;
  readonly requested: number | null;
}

/** Null: the call failed for another reason. */
export function overflowOf(thrown: unknown): Overflow | null {
  const error = unwrapped(thrown);
  const words = wordsOf(error);
  const status = statusOf(error);
  if (status !== null && (status === 401 || status === 403 || status === 429)) return null;
  if (TOO_LONG.some((wording) => wording.test(words))) return { kind: "tokens", ...numbersIn(words) };
  if (status === 413 || /request_too_large|payload too large|request entity too large/i.test(words)) {
    return { kind: "bytes", limit: null, requested: null };
  }
  return null;
}

/** A call that ended well except that the window was full: Anthropic says so as the reason it stopped. */
export function isOverflowFinish(raw: string | undefined): boolean {
  return raw === "model_context_window_exceeded";
}

/** One line per wording; a provider that copies another one's API copies its words. */
const TOO_LONG: readonly RegExp[] = [
  /context_length_exceeded/i, // OpenAI, Azure, OpenRouter, Groq: the code
  /maximum context length/i, // OpenAI, vLLM, Mistral's older wording, OpenRouter
  /max_model_len|maximum model length/i, // vLLM
  /exceeds? (?:the|this) (?:model'?s? )?(?:maximum )?context (?:window|length|size)/i, // OpenAI responses, llama.cpp, LM Studio
  /exceeds? the (?:available|configured|maximum) context/i, // llama.cpp, Ollama
  /exceed_context_size_error/i, // llama.cpp: the type
  /prompt is too long/i, // Anthropic
  /input is too long|input length and `?max_tokens`? exceed|too many (?:input )?tokens/i, // Bedrock, Anthropic
  /input token count .{0,300}exceeds/is, // Google
  /prompt contains \d+ tokens .{0,300} too large|too large for model with \d+ maximum/is, // Mistral
  /(?:tokens to keep|number of tokens).{0,300}(?:context (?:length|window)|n_ctx)/is, // LM Studio
  /prompt too long|input exceeds|exceeded max context length/i, // Ollama
  /context (?:window|length|size) (?:is |has been |was )?(?:exceeded|full|overflow)/i, // LM Studio, others
];

function wordsOf(error: unknown): string {
  if (typeof error === "string") return error;
  if (typeof error !== "object" || error === null) return "";
  const fields: unknown[] = [];
  if (error instanceof Error) fields.push(error.message);
  // vLLM's message is "Bad Request"; what it means stands in the body alone.
  for (const key of ["message", "code", "type", "responseBody", "data", "error"]) {
    if (key in error) fields.push(Reflect.get(error, key));
  }
  return fields.map((field) => (typeof field === "string" ? field : safeJson(field))).join("\n");
}

function safeJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}

const LIMIT: readonly RegExp[] = [
  /maximum context length (?:is|of) (\d[\d,_]{2,})/i,
  /> (\d[\d,_]{2,}) maximum/i,
  /"n_ctx"\s*:\s*(\d[\d,_]{2,})/i,
  /maximum number of tokens allowed \(?(\d[\d,_]{2,})/i,
  /model with (\d[\d,_]{2,}) maximum context/i,
  /context (?:length|window|size) (?:of |is |\()(?:only )?(\d[\d,_]{2,})/i,
  /max_model_len\D{0,12}(\d[\d,_]{2,})/i,
  /(?:limit|maximum) (?:is|of) (\d[\d,_]{2,})/i,
];

const REQUESTED: readonly RegExp[] = [
  /resulted in (\d[\d,_]{2,}) tokens/i,
  /requested (\d[\d,_]{2,}) tokens/i,
  /prompt is too long: (\d[\d,_]{2,}) tokens/i,
  /"n_prompt_tokens"\s*:\s*(\d[\d,_]{2,})/i,
  /(?:input )?token count \(?(\d[\d,_]{2,})\)? exceeds/i,
  /prompt contains (\d[\d,_]{2,}) tokens/i,
  /(?:prompt|request) \(?(\d[\d,_]{2,}) tokens/i,
];

function numbersIn(words: string): Pick<Overflow, "limit" | "requested"> {
  return { limit: firstNumber(words, LIMIT), requested: firstNumber(words, REQUESTED) };
}

function firstNumber(words: string, patterns: readonly RegExp[]): number | null {
  for (const pattern of patterns) {
    const digits = pattern.exec(words)?.[1];
    if (digits !== undefined) return Number(digits.replace(/[,_]/g, ""));
  }
  return null;
}

// What a provider's prompt cache will find of the next request, as far as planning a pruning needs to know it.

/**
 * `prefix`: it finds whatever it has read before (OpenAI). The others are for a provider that looks only at marks
 * (Anthropic), by what the request carries: `marks` behind the last prunings and at the end, a mark at the `end` only, or
 * `none`, so that every request is read anew.
 */
export type PromptCache = "prefix" | "marks" | "end" | "none";

interface CacheTerms {
  /** Whether there is a cache at all. */
  readonly isKept: boolean;
  readonly prices: Prices;
  /** Seqs of the messages behind which an entry stands; null: anywhere. */
  readonly marks: (reach: readonly number[]) => readonly number[] | null;
}

/** Whether a prefix cached at `lastAt` is gone at `now`. A clock that can't be read is taken as warm. */
export function isCold(lastAt: number | null, now: number, prices: Prices): boolean {
  if (lastAt === null) return true;
  return now - lastAt > prices.ttlMs;
}

export function cacheTerms(promptCache: PromptCache, prices: Prices): CacheTerms {
  switch (promptCache) {
    case "prefix":
      return { isKept: true, prices, marks: () => null };
    case "marks":
      return { isKept: true, prices, marks: cutMarks };
    case "end":
      return { isKept: true, prices, marks: () => [] };
    case "none":
      return {
        isKept: false,
        prices: { ...prices, cacheRead: prices.input, cacheWrite: prices.input },
        marks: () => [],
      };
  }
}

/** Indices of the messages to mark: those that the last prunings touched, where they stand as they were sized, and the last. */
export function markedIndices<M>(
  { entries }: Pick<Prompt<M>, "entries">,
  messages: readonly M[],
  reach: readonly number[],
): readonly number[] {
  if (messages.length === 0) return [];
  const cuts = cutMarks(reach).flatMap((seq) => {
    const entry = entries.find((one) => one.seq === seq);
    const index = entry === undefined ? -1 : messages.indexOf(entry.sent);
    return index === -1 || index === messages.length - 1 ? [] : [index];
  });
  return [...cuts, messages.length - 1];
}

/**
 * Where a provider that caches at marks is told to: behind the last message that the newest pass has touched, where the next
 * one begins, and behind the one before it. `reach`: the last message that each live pass touches, in order. Returns seqs,
 * ascending, at most two.
 */
export function cutMarks(reach: readonly number[]): readonly number[] {
  const marks: number[] = [];
  for (const seq of reach) if (seq > (marks.at(-1) ?? 0)) marks.push(seq);
  return marks.slice(-2);
}

// Marks for providers that cache a prompt only where they are told to, at most four: after the system prompt, which
// threads share, behind the last two prunings, from where the next one writes anew, and after the last message,
// from where the next request grows.

const MARK = { anthropic: { cacheControl: { type: "ephemeral" } } } as const;

export function needsMarks(provider: string): boolean {
  return provider.includes("anthropic");
}

export function markedInstructions(text: string, provider: string): string | SystemModelMessage {
  return needsMarks(provider) ? { role: "system", content: text, providerOptions: MARK } : text;
}

/** The messages of a thread's view that a mark stands behind, beside the last one. */
export function cutMessages(thread: Pick<ThreadLog<AiSdkMessage>, "head" | "view">): readonly AiSdkMessage[] {
  const marks = cutMarks(thread.head().reach);
  if (marks.length === 0) return [];
  return thread.view().flatMap(({ seq, message }) => (seq !== null && marks.includes(seq) ? [message] : []));
}

/** `cuts`: messages out of the list that get a mark as well; one that isn't in it any more gets none. */
export function markedMessages(
  messages: readonly AiSdkMessage[],
  provider: string,
  cuts: readonly AiSdkMessage[] = [],
): readonly AiSdkMessage[] {
  if (!needsMarks(provider)) return messages;
  const last = messages.length - 1;
  if (cuts.length === 0) return last < 0 ? messages : messages.with(last, marked(messages[last]!));
  return messages.map((message, index) => (index === last || cuts.includes(message) ? marked(message) : message));
}

function marked(message: AiSdkMessage): AiSdkMessage {
  const { anthropic, ...others } = message.providerOptions ?? {};
  return { ...message, providerOptions: { ...others, anthropic: { ...MARK.anthropic, ...anthropic } } };
}

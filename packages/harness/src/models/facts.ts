/** The input window of a model and where the number comes from. */

import { type Prices, RELATIVE_PRICES } from "@palimpsest/core/internal/pricing";
import { isRecord } from "@palimpsest/core/internal/text";
import { type LearnedLimits, learnedLimit } from "@palimpsest/core/internal/tokens";
import type { ConfigFile } from "../home/schema.ts";

export interface ModelWindow {
  readonly tokens: number;
  readonly source: "config" | "table" | "fallback";
}

/** What a provider stated when it refused a prompt counts, where it is less. */
export function windowNow(
  model: Parameters<typeof windowOf>[0] & Addressed,
  fallback: number,
  { limits, now }: { readonly limits: LearnedLimits; readonly now: number },
): { readonly tokens: number; readonly source: ModelWindow["source"] | "learned" } {
  const stated = windowOf(model, fallback);
  const learned = learnedLimit(limits, { ...addressOfLimits(model), now });
  return learned === null || learned >= stated.tokens ? stated : { tokens: learned, source: "learned" };
}

/** What the limits of a configured model are kept by. */
export function addressOfLimits({ base_url: address, model }: Addressed) {
  const baseUrl = address === undefined || !URL.canParse(address) ? null : withoutCredentials(address);
  return { baseUrl, model };
}

interface Addressed {
  readonly model: string;
  readonly base_url?: string | undefined;
}

/** The entry's own key, else the variable its provider is known for. */
export function keyOf(
  { provider, api_key: key }: { readonly provider: string; readonly api_key?: string | undefined },
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const variable = KEY_VARIABLES[provider];
  return key ?? (variable === undefined ? undefined : env[variable]);
}

/** The variable that each provider's key is known by. */
export const KEY_VARIABLES: Readonly<Record<string, string | undefined>> = {
  openai: "OPENAI_API_KEY",
  anthropic: "ANTHROPIC_API_KEY",
  google: "GOOGLE_GENERATIVE_AI_API_KEY",
};

export function windowOf(
  model: { readonly provider: string; readonly model: string; readonly max_input_tokens?: number | undefined },
  fallback: number,
): ModelWindow {
  if (model.max_input_tokens !== undefined) return { tokens: model.max_input_tokens, source: "config" };
  const listed = model.provider === "offline" ? null : knownWindow(model.model);
  return listed === null ? { tokens: fallback, source: "fallback" } : { tokens: listed, source: "table" };
}

/**
 * Which models bind their thinking to the conversation it was made in: Claude from version 5.1 on, by its maker's pages.
 * `binds_reasoning` in the configuration says otherwise where a name hides the model.
 */
export function bindsReasoning(model: string): boolean {
  const version = /claude-[a-z]+-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model.toLowerCase());
  if (version === null) return false;
  const [major, minor] = [Number(version[1]), Number(version[2] ?? 0)];
  return major > 5 || (major === 5 && minor >= 1);
}

/**
 * Input windows of well-known models by their ids, from their makers' model pages. Where input and output share one
 * context, it is the whole of it. A server may run a model with less: `max_input_tokens` in the configuration says so.
 */

/** The input window in tokens, or null for a model we don't know. Prefixes of routers and tags don't matter. */
export function knownWindow(model: string): number | null {
  const bare = model.toLowerCase().split("/").at(-1)!.replace(/:.*$/s, "");
  // Bedrock and others write `anthropic.claude-...`, `us.meta.llama3-...`, also `meta-llama-3.1`.
  const id = bare.replace(/^(?:[a-z]+\.)+(?=[a-z])/, "").replace(/^meta-(?=llama)/, "");
  return WINDOWS.find(([pattern]) => pattern.test(id))?.[1] ?? null;
}

const K = 1024;

/** The first match counts, so the special stands before the general. */
const WINDOWS: readonly (readonly [RegExp, number])[] = [
  // OpenAI
  [/^gpt-3\.5/, 16_385],
  [/^gpt-4\.1/, 1_047_576],
  [/^gpt-4-32k/, 32 * K],
  [/^(?:gpt-4o|chatgpt-4o|gpt-4\.5|gpt-4-turbo|gpt-4-\d{4}-preview)/, 128_000],
  [/^gpt-4(?:$|-)/, 8 * K],
  [/^gpt-5.*-chat/, 128_000],
  // 400k in all, of which 128k are for the answer.
  [/^gpt-5/, 272_000],
  [/^gpt-oss/, 128 * K],
  [/^o1-(?:mini|preview)/, 128_000],
  [/^(?:o[134]|codex)(?:$|-)/, 200_000],
  // Anthropic
  [/^claude-(?:2(?:$|\.0)|instant)/, 100_000],
  [/^claude/, 200_000],
  // Google
  [/^gemini-1\.5-pro/, 2 * K * K],
  [/^gemini-(?:1\.0|pro)/, 32 * K],
  [/^gemini/, K * K],
  [/^gemma-?3-?1b/, 32 * K],
  [/^gemma-?3/, 128 * K],
  [/^gemma/, 8 * K],
  // Meta
  [/^llama-?2/, 4 * K],
  [/^llama-?3(?:\.|-)[123]/, 128 * K],
  [/^llama-?3/, 8 * K],
  [/^llama-?4/, K * K],
  // Qwen
  [/^qwen-?3-coder/, 256 * K],
  [/^qwen/, 32 * K],
  // Mistral
  [/^(?:mistral-(?:large|medium|nemo)|ministral|magistral|devstral|pixtral)/, 128_000],
  [/^(?:mixtral-8x22b|open-mixtral-8x22b)/, 64 * K],
  [/^(?:mistral|mixtral|open-mi|codestral)/, 32 * K],
  // Others
  [/^deepseek/, 64 * K],
  [/^grok-[23]/, 128 * K],
  [/^grok/, 256_000],
  [/^command-(?:r|a)/, 128_000],
  [/^phi-?4/, 16 * K],
  [/^(?:kimi|moonshot|glm-4\.[5-9])/, 128_000],
];

/**
 * List prices of well-known models in US dollars per million tokens, as of the date below (Anthropic's from its own pages,
 * the others' as they are quoted); for prompts of ordinary length and without discounts. They change: `pricing` in the
 * configuration comes first.
 */

export const PRICES_AS_OF = "2026-11";

export interface TokenPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** Null for a model we don't know. */
export function knownPrices(model: string): TokenPrices | null {
  const row = PRICES.find(([pattern]) => pattern.test(model.toLowerCase()));
  if (row === undefined) return null;
  const [, input, output, cacheRead, cacheWrite = input] = row;
  return { input, output, cacheRead, cacheWrite };
}

/** Input, output, cache read and, where it costs more than reading anew, cache write. A date or `-latest` may follow. */
const PRICES: readonly (readonly [RegExp, number, number, number, number?])[] = [
  // OpenAI
  [exactly("gpt-5(?:\\.1)?"), 1.25, 10, 0.125],
  [exactly("gpt-5-mini"), 0.25, 2, 0.025],
  [exactly("gpt-5-nano"), 0.05, 0.4, 0.005],
  [exactly("gpt-4\\.1"), 2, 8, 0.5],
  [exactly("gpt-4\\.1-mini"), 0.4, 1.6, 0.1],
  [exactly("gpt-4\\.1-nano"), 0.1, 0.4, 0.025],
  [exactly("gpt-4o"), 2.5, 10, 1.25],
  [exactly("gpt-4o-mini"), 0.15, 0.6, 0.075],
  [exactly("o3"), 2, 8, 0.5],
  [exactly("o4-mini"), 1.1, 4.4, 0.275],
  [exactly("text-embedding-3-small"), 0.02, 0, 0.02],
  [exactly("text-embedding-3-large"), 0.13, 0, 0.13],
  // Anthropic; a cache entry of five minutes
  [exactly("claude-fable-5-1"), 10, 50, 0.25, 12.5],
  [exactly("claude-fable-5"), 10, 50, 1, 12.5],
  [exactly("claude-opus-5-5"), 4, 20, 0.2, 5],
  [exactly("claude-opus-(?:4-[5-8]|5)"), 5, 25, 0.5, 6.25],
  [exactly("claude-opus-4(?:-[01])?"), 15, 75, 1.5, 18.75],
  [exactly("claude-sonnet-5(?:-5)?"), 2, 10, 0.2, 2.5],
  [exactly("claude-(?:sonnet-4(?:-[056])?|3-7-sonnet|3-5-sonnet)"), 3, 15, 0.3, 3.75],
  [exactly("claude-haiku-4-5"), 1, 5, 0.1, 1.25],
  [exactly("claude-3-5-haiku"), 0.8, 4, 0.08, 1],
  // Google
  [exactly("gemini-2\\.5-pro"), 1.25, 10, 0.125],
  [exactly("gemini-2\\.5-flash"), 0.3, 2.5, 0.03],
  [exactly("gemini-2\\.5-flash-lite"), 0.1, 0.4, 0.01],
];

/** Another variant of a model has another price, so only a date or `latest` may follow its name. */
function exactly(name: string): RegExp {
  return new RegExp(`^${name}(?:-latest|-\\d{8}|-\\d{4}-\\d{2}-\\d{2})?$`);
}

/* What a prompt costs a model's maker to be asked again: prices, and how long its cache lives. Pure. */

/** A model's prices as somebody gives them, for as many tokens as they like: only their ratios matter here. */
export interface GivenPrices extends Pick<TokenPrices, "input" | "output"> {
  /** Absent: in the ratio to input that is known of the model; of another model the price of input. */
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  /** How long an entry lives without use; five minutes unless told, with OpenAI's models ten. */
  readonly ttlMs?: number | undefined;
}

/** What is given comes first, then the list of well-known models, then shares of an input token's price. */
export function cachePrices(model: string, given: GivenPrices | null = null): Prices {
  const listed = knownPrices(model);
  if (given === null && listed === null) return RELATIVE_PRICES;
  // OpenAI says 5 to 10 minutes without use; Anthropic's default is 5, and what others do isn't documented.
  const ttlMs = given?.ttlMs ?? (/^(?:gpt|o\d)/.test(model) ? 10 * 60_000 : RELATIVE_PRICES.ttlMs);
  if (given === null) return { ...listed!, ttlMs };
  const { input, output } = given;
  const inRatio = (price: "cacheRead" | "cacheWrite"): number =>
    given[price] ?? (listed === null ? input : (input * listed[price]) / listed.input);
  return { input, output, cacheRead: inRatio("cacheRead"), cacheWrite: inRatio("cacheWrite"), ttlMs };
}

/** As the configuration spells them; null: it says nothing. */
export function pricingOf({ pricing }: { readonly pricing?: ModelEntry["pricing"] | null }): GivenPrices | null {
  if (pricing == null) return null;
  const { input, output, cache_read: cacheRead, cache_write: cacheWrite } = pricing;
  return { input, output, cacheRead, cacheWrite };
}

/* What calls cost: prices of a model, from the configuration or the table, and what a usage comes to. Pure. */

export interface ModelPrices extends TokenPrices {
  /** Both are US dollars. */
  readonly source: "config" | "table";
}

interface Priced extends Pick<ModelEntry, "provider" | "model" | "base_url"> {
  /** An embedder writes nothing. */
  readonly pricing?: (Partial<NonNullable<ModelEntry["pricing"]>> & { readonly input: number }) | undefined;
}

/** Per million tokens; null: not known. At another address than the maker's own the table says nothing. */
export function pricesOf({ provider, model, base_url, pricing }: Priced): ModelPrices | null {
  if (pricing !== undefined) {
    const { input, output = 0, cache_read: cacheRead = input, cache_write: cacheWrite = input } = pricing;
    return { input, output, cacheRead, cacheWrite, source: "config" };
  }
  if (base_url !== undefined || provider === "offline") return null;
  const listed = knownPrices(model);
  return listed === null ? null : { ...listed, source: "table" };
}

export interface Cost {
  readonly spent: number;
  /** Against reading the whole prompt anew each time; below zero where writing the cache cost more than it gave. */
  readonly savedByCache: number;
}

/** `input` is the whole prompt, cached part included. */
export function costOf(usage: Usage, prices: TokenPrices): Cost {
  const anew = Math.max(0, usage.input - usage.cacheRead - usage.cacheWrite);
  const prompt = anew * prices.input + usage.cacheRead * prices.cacheRead + usage.cacheWrite * prices.cacheWrite;
  const uncached = (anew + usage.cacheRead + usage.cacheWrite) * prices.input;
  return {
    spent: (prompt + usage.output * prices.output) / MILLION,
    savedByCache: (uncached - prompt) / MILLION,
  };
}

/** What leaving tokens out of one call saved: they would have been read from the cache if the rest was. */
export function savingOf(tokens: number, { cacheRead }: Usage, prices: TokenPrices): number {
  return (tokens * (cacheRead > 0 ? prices.cacheRead : prices.input)) / MILLION;
}

const MILLION = 1_000_000;

/** What a provider reported for a call, and its sum over several. */

/** `input` is the whole prompt, cached part included. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** A call without a report adds nothing. */
export function addUsage(total: Usage, more: Usage | null | undefined): Usage {
  if (more == null) return total;
  return {
    input: total.input + more.input,
    output: total.output + more.output,
    cacheRead: total.cacheRead + more.cacheRead,
    cacheWrite: total.cacheWrite + more.cacheWrite,
  };
}

/*
 * Reads the usage that providers and recorders report, each in its own spelling, and makes `input` mean the whole prompt.
 * A report of zero is kept as it is: whether a number is possible is the token account's judgement.
 */

/** Null: it states no input. */
export function readUsage(usage: unknown): Usage | null {
  if (!isRecord(usage)) return null;
  const number = (...names: readonly string[]): number => firstNumber(usage, names) ?? 0;
  const within = (details: unknown, ...names: readonly string[]): number => firstNumber(details, names) ?? 0;
  const has = (name: string): boolean => firstNumber(usage, [name]) !== null;
  if (has("prompt_tokens"))
    return {
      input: number("prompt_tokens"),
      output: number("completion_tokens"),
      cacheRead: within(usage["prompt_tokens_details"], "cached_tokens"),
      cacheWrite: 0,
    };
  if (has("inputTokens")) {
    const details = usage["inputTokenDetails"];
    return {
      input: number("inputTokens"),
      output: number("outputTokens"),
      cacheRead: firstNumber(details, ["cacheReadTokens"]) ?? number("cachedInputTokens"),
      cacheWrite: within(details, "cacheWriteTokens"),
    };
  }
  if (has("promptTokenCount"))
    return {
      input: number("promptTokenCount"),
      output: number("candidatesTokenCount") + number("thoughtsTokenCount"),
      cacheRead: number("cachedContentTokenCount"),
      cacheWrite: 0,
    };
  if (!has("input") && !has("input_tokens")) return null;
  // The Responses API and LangChain state the cached part of `input_tokens` in an object beside it.
  const details = usage["input_tokens_details"] ?? usage["input_token_details"];
  if (details !== undefined)
    return {
      input: number("input_tokens"),
      output: number("output_tokens"),
      cacheRead: within(details, "cached_tokens", "cache_read"),
      cacheWrite: within(details, "cache_creation"),
    };
  // Anthropic and most recorders leave the cached part out of `input`.
  const cacheRead = number("cache_read", "cacheRead", "cache_read_input_tokens");
  const cacheWrite = number("cache_write", "cacheWrite", "cache_creation_input_tokens");
  const input = number("input", "input_tokens") + cacheRead + cacheWrite;
  return { input, output: number("output", "output_tokens"), cacheRead, cacheWrite };
}

/** More than any call can use: one such figure would spoil every sum it stands in. */
const MOST_TOKENS = 1e9;

function firstNumber(from: unknown, names: readonly string[]): number | null {
  if (!isRecord(from)) return null;
  for (const name of names) {
    const value = from[name];
    if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MOST_TOKENS) return value;
  }
  return null;
}

/** A provider's address as it may be kept and shown. */
export function withoutCredentials(address: string): string {
  const url = new URL(address);
  url.username = "";
  url.password = "";
  return url.href.replace(/(?<!\/)\/+$/, "");
}

/* The part of a configuration that models need, so that a program without a file can write it down as well. */

export type ModelEntry = ConfigFile["models"][number];

export type EmbedderEntry = NonNullable<ConfigFile["recall"]["embedder"]>;

export interface ModelsConfig {
  readonly models: readonly ModelEntry[];
  readonly summarization: { readonly fallback_context_window: number };
  readonly recall?: { readonly embedder: EmbedderEntry | null };
}

/** With no model configured everything still runs. */
export const OFFLINE: ModelEntry = {
  name: "offline",
  provider: "offline",
  model: "offline",
  lightweight: false,
  supports_vision: false,
  thinking: false,
};

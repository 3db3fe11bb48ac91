/**
 * What changes with the model that is asked: its settings, its window and how its tokens are counted. An agent has one of
 * these, one more for each model to fall back on, and a run may bring its own.
 */

import type { LanguageModelV4 } from "@ai-sdk/provider";
import { type AiSdkMessage, shapeOf } from "@palimpsest/core/internal/message";
import type { Prices } from "@palimpsest/core/internal/pricing";
import { answerReserve, type CountText, createMeter, type Meter } from "@palimpsest/core/internal/tokens";
import type { LanguageModel, streamText, ToolChoice, ToolSet } from "ai";
import type { DraftTable } from "../compaction/drafts.ts";
import { modelSummarize } from "../compaction/model-summarize.ts";
import { createModelWriter } from "../compaction/model-writer.ts";
import type { Summarization } from "../compaction/summarization.ts";
import type { CachedPrefix, SummaryWriter } from "../compaction/summarize.ts";
import { bindsReasoning, cachePrices, type GivenPrices, knownWindow } from "../models/facts.ts";
import type { LimitsStore } from "../models/tokenizers.ts";
import { type GivenCounter, type ModelCounter, modelCounter } from "../models/tokenizers.ts";
import { withoutThinking } from "../models/wrap.ts";
import type { RequestParameters } from "../thread/fixed-request.ts";
import { createModelWindow, type LearnedWindow, type ModelWindowOptions } from "../thread/window.ts";
import { AgentError } from "./errors.ts";

export interface ModelOptions extends CallSettings {
  readonly model: ModelObject;
  /** The model's input window in tokens; without it the table of known models, else the summarization's fallback. */
  readonly window?: number | undefined;
  /** Tells providers apart that serve a model of the same name, for limits learned from them. */
  readonly baseUrl?: string | undefined;
  /** Whether the model takes its thoughts back only behind the prompt they were made under; by default told by its name. */
  readonly bindsReasoning?: boolean | undefined;
  /** The model's prices, which say when pruning pays; by default those known by its name. */
  readonly prices?: GivenPrices | undefined;
  /** Counts tokens, any function of a text; by default the best counter known for the model. */
  readonly counter?: GivenCounter | undefined;
}

export interface ModelSetup {
  readonly model: AgentModel;
  readonly modelWindow: LearnedWindow;
  readonly counting: () => Promise<Counting>;
}

interface Counting {
  readonly counter: ModelCounter;
  readonly meter: Meter<AiSdkMessage>;
}

export interface ModelPlace {
  readonly clock: () => Date;
  readonly limitsStore: LimitsStore | null;
  readonly fallbackWindow: number;
}

export function modelSetup(options: ModelOptions, { clock, limitsStore, fallbackWindow }: ModelPlace): ModelSetup {
  const { model: languageModel, window, baseUrl = null, counter } = options;
  const { provider, modelId } = languageModel;
  const model: AgentModel = {
    settings: settingsFor(languageModel, callSettingsIn(options)),
    window: window ?? knownWindow(modelId) ?? fallbackWindow,
    baseUrl,
    bindsReasoning: options.bindsReasoning ?? bindsReasoning(modelId),
    prices: cachePrices(modelId, options.prices ?? null),
  };
  let counting: Promise<Counting> | undefined;
  return {
    model,
    modelWindow: modelWindowOf(model, { clock, limitsStore }),
    counting: () => {
      counting ??= countingWith(modelCounter(counter, { provider, model: modelId }));
      return counting;
    },
  };
}

/** Throws an `AgentError` for what is no model, and where no options were given at all. */
export function assertModelOptions(options: Pick<ModelOptions, "model" | "window"> | null | undefined): void {
  assertModel(options?.model, "model");
  assertWindow(options?.window);
}

/** One for all who count alike, so that an agent made anew finds the messages sized. */
async function countingWith(given: ModelCounter | Promise<ModelCounter>): Promise<Counting> {
  const { count, ...rest } = await given;
  const alike = countings.get(count) ?? new Map<string, Counting>();
  countings.set(count, alike);
  const key = JSON.stringify(rest);
  const counting = alike.get(key) ?? newCounting({ ...rest, count: sharedCounts(count) });
  alike.set(key, counting);
  return counting;
}

const countings = new WeakMap<CountText, Map<string, Counting>>();

function newCounting(counter: ModelCounter): Counting {
  return { counter, meter: createMeter(shapeOf("ai-sdk"), { ...counter, counter: counter.count }) };
}

/** What a run may say about the model it is to be answered by. */
export interface RunModel extends CallSettings {
  /** Instead of the agent's; the thread is the same. */
  readonly model?: ModelObject;
  readonly window?: number;
}

/** An agent's setup with the model and the settings of one run. Models that runs bring are known from then on. */
export function modelFor(own: ModelSetup, given: RunModel, place: ModelPlace, known: KnownModels): ModelSetup {
  const { model, window } = given;
  const settings = callSettingsIn(given);
  const base = model === undefined && window === undefined ? own : another(own, given, place, known);
  if (Object.keys(settings).length === 0) return base;
  const { languageModel, ...before } = base.model.settings;
  const changed = { ...base.model, settings: settingsFor(languageModel, { ...before, ...settings }) };
  return { ...base, model: changed, modelWindow: withReserve(base.modelWindow, settings.maxOutputTokens) };
}

export type KnownModels = WeakMap<ModelObject, ModelSetup>;

function another(own: ModelSetup, given: RunModel, place: ModelPlace, known: KnownModels): ModelSetup {
  const { languageModel, ...settings } = own.model.settings;
  const { model = languageModel, window } = given;
  assertModelOptions({ model, window });
  if (window !== undefined) return modelSetup({ ...settings, model, window }, place);
  const before = known.get(model) ?? modelSetup({ ...settings, model }, place);
  known.set(model, before);
  return before;
}

/** Longer answers need more of the window. */
function withReserve(modelWindow: LearnedWindow, maxOutputTokens: number | undefined): LearnedWindow {
  if (maxOutputTokens === undefined) return modelWindow;
  return {
    ...modelWindow,
    window() {
      const { size } = modelWindow.window();
      return { size, reserve: Math.min(answerReserve(size, maxOutputTokens), Math.floor(size / 2)) };
    },
  };
}

// The model an agent asks: the SDK's model, what is known about its window, and the settings of its calls.

/** A model object. A bare name would send the conversation to a hosted router. */
export type ModelObject = Exclude<LanguageModel, string>;

/** Throws where something else stands for a model: a name would fail later, with words about something else. */
function assertModel(given: unknown, option: string): asserts given is ModelObject {
  const { doStream, modelId } = (typeof given === "object" && given !== null ? given : {}) as Partial<ModelObject>;
  if (typeof doStream === "function" && typeof modelId === "string") return;
  const what = typeof given === "string" ? `the name ${JSON.stringify(given)}` : given === null ? "null" : typeof given;
  throw new AgentError(
    "bad-model",
    `\`${option}\` takes a model object of the AI SDK, and ${what} was given: for example openai("gpt-5") of @ai-sdk/openai. A name alone would send the conversation to a hosted router; names of a configuration are for createAgentFromConfig.`,
  );
}

function assertWindow(given: number | undefined): void {
  if (given === undefined || (Number.isInteger(given) && given > 0)) return;
  throw new AgentError("bad-options", `window ${given} must be a whole number of tokens above 0`);
}

type GivenModel = Parameters<typeof streamText>[0];

/** How a model is asked, as in the AI SDK: of every call of an agent, of a run, or of one step. */
export interface CallSettings {
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly stopSequences?: string[];
  readonly seed?: number;
  readonly reasoning?: NonNullable<GivenModel["reasoning"]>;
  /** Sent with every call, and never logged. */
  readonly headers?: Record<string, string | undefined>;
  readonly providerOptions?: NonNullable<GivenModel["providerOptions"]>;
  /** A choice that forces a call holds for a run's first step only: with it in every step no run would end. */
  readonly toolChoice?: ToolChoice<ToolSet>;
}

export const CALL_SETTINGS = [
  "temperature",
  "maxOutputTokens",
  "topP",
  "topK",
  "presencePenalty",
  "frequencyPenalty",
  "stopSequences",
  "seed",
  "reasoning",
  "headers",
  "providerOptions",
  "toolChoice",
] as const satisfies readonly (keyof CallSettings)[];

/** Those that are given, out of options that have others as well. */
function callSettingsIn(options: CallSettings): CallSettings {
  const given = CALL_SETTINGS.filter((name) => options[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, options[name]]));
}

/** As they hold for this step of a run. */
export function settingsAt(settings: ModelSettings, step: number): ModelSettings {
  const { toolChoice, ...others } = settings;
  return step > 1 && (toolChoice === "required" || typeof toolChoice === "object") ? others : settings;
}

/** Settings of every call of a run. */
export interface ModelSettings extends CallSettings {
  readonly languageModel: ModelObject;
}

export interface AgentModel {
  readonly settings: ModelSettings;
  /** Configured, or the fallback. */
  readonly window: number;
  readonly baseUrl: string | null;
  /** It takes a thought of its own back only while all that stands before it is unchanged. */
  readonly bindsReasoning: boolean;
  readonly prices: Prices;
}

function settingsFor(languageModel: ModelObject, given: CallSettings): ModelSettings {
  const kept = { languageModel, ...given };
  if (!languageModel.provider.startsWith("openai.responses")) return kept;
  // Otherwise the provider reads its own stored copy of our messages instead of what the log says.
  const { openai, ...others } = given.providerOptions ?? {};
  return { ...kept, providerOptions: { ...others, openai: { store: false, ...openai } } };
}

/** What the log keeps of how it is asked. */
export function parametersOf({ settings, bindsReasoning }: AgentModel): RequestParameters {
  // Headers hold keys as often as not.
  const { languageModel, headers: _, ...given } = settings;
  return { provider: languageModel.provider, model: languageModel.modelId, bindsReasoning, settings: given };
}

/** Its window. */
function modelWindowOf(
  { settings, window, baseUrl }: AgentModel,
  { clock, limitsStore }: Pick<ModelWindowOptions, "clock" | "limitsStore">,
): LearnedWindow {
  const { provider, modelId } = settings.languageModel;
  return createModelWindow({
    endpoint: { provider, baseUrl, model: modelId },
    window: () => window,
    reserve: (size) => answerReserve(size, settings.maxOutputTokens ?? null),
    clock,
    limitsStore,
  });
}

// Who writes an agent's summaries: its own model, another one, a function, or nobody. With its own model and a warm
// cache one call on the conversation's own prefix is enough; any other reads the hidden messages in chunks.

/** `agent`: the agent's own model. Null: no model, summaries are extracted. */
export type Summarizer = "agent" | ModelObject | SummaryWriter | null;

export function assertSummarizer(given: unknown): asserts given is Summarizer {
  if (given !== null && given !== "agent" && typeof given !== "function") assertModel(given, "summarizer");
}

interface WriterDeps {
  readonly settings: Summarization;
  /** The agent's own model, its window, and what it was sent last while its cache may still hold it. */
  readonly model: ModelObject;
  /** What the agent's own calls carry: a summary on their cached prefix is the same kind of call. */
  readonly providerOptions: ModelSettings["providerOptions"];
  readonly window: () => number;
  readonly prefix: () => CachedPrefix | null;
  readonly drafts: DraftTable;
  /** The same today and tomorrow, so that a resumed summary is cut where it was cut before. */
  readonly count: (text: string) => number;
}

export function writerFor(summarizer: Summarizer, deps: WriterDeps): SummaryWriter | null {
  if (summarizer === null || typeof summarizer === "function") return summarizer;
  const { settings, drafts, count } = deps;
  const own = summarizer === "agent" || summarizer === deps.model;
  const model = summarizer === "agent" ? deps.model : summarizer;
  const { providerOptions } = own ? deps : settingsFor(model, {});
  return createModelWriter({
    // The SDK adapts models of older versions itself.
    summarize: modelSummarize(model as LanguageModelV4, providerOptions === undefined ? {} : { providerOptions }),
    window: own ? deps.window() : (knownWindow(model.modelId) ?? settings.fallbackContextWindow),
    reservedOutputTokens: settings.reservedOutputTokens,
    trimTokensToSummarize: settings.trimTokensToSummarize,
    maxSummarizerCalls: settings.maxSummarizerCalls,
    summaryPrompt: settings.summaryPrompt,
    drafts,
    count,
    ...(own && keepsCache(deps) ? { prefix: deps.prefix } : {}),
  });
}

/** Anthropic reads the messages anew when thinking is turned off, so that a call on the whole prefix would cost it whole. */
function keepsCache({ model, providerOptions }: WriterDeps): boolean {
  const { reasoning } = withoutThinking(model, providerOptions);
  return reasoning === undefined || !/anthropic|claude/i.test(`${model.provider} ${model.modelId}`);
}

/** What a draft depends on beside the conversation. */
export function summarizerLabel(
  summarizer: Summarizer,
  { settings, model }: Pick<WriterDeps, "settings" | "model">,
): string {
  const name =
    summarizer === null || typeof summarizer === "function"
      ? "given"
      : summarizer === "agent"
        ? model.modelId
        : summarizer.modelId;
  return JSON.stringify([name, settings.summaryPrompt]);
}

// A counter that counts each text once: every run opens its thread anew, and most of what it holds was counted by
// the run before. Bounded by the characters it remembers; what was asked for longest ago goes first.

const MOST_CHARACTERS = 8_000_000;

/** One memory for all who count with the same function: an agent made anew finds what the one before it has counted. */
function sharedCounts(count: CountText): CountText {
  const known = shared.get(count) ?? rememberCounts(count);
  shared.set(count, known);
  return known;
}

const shared = new WeakMap<CountText, CountText>();

export function rememberCounts(count: CountText, mostCharacters = MOST_CHARACTERS): CountText {
  const known = new Map<string, number>();
  let characters = 0;
  return (text) => {
    let tokens = known.get(text);
    if (tokens === undefined) {
      tokens = count(text);
      if (text.length > mostCharacters / 4) return tokens;
      characters += text.length;
    } else known.delete(text);
    known.set(text, tokens);
    for (const oldest of known.keys()) {
      if (characters <= mostCharacters) break;
      known.delete(oldest);
      characters -= oldest.length;
    }
    return tokens;
  };
}

/**
 * What changes with the model that is asked: its settings, its window and how its tokens are counted. An agent has one of
 * these, one more for each model to fall back on, and a run may bring its own.
 */
import { type AiSdkMessage, shapeOf } from "@palimpsest/core/message";
import { answerReserve, type CountText, createMeter, type Meter } from "@palimpsest/core/tokens";
import { bindsReasoning } from "../models/binds-reasoning.ts";
import { cachePrices, type GivenPrices } from "../models/cache-prices.ts";
import { knownWindow } from "../models/known-windows.ts";
import type { LimitsStore } from "../models/learned-limits.ts";
import { type GivenCounter, type ModelCounter, modelCounter } from "../models/tokenizers.ts";
import type { ModelWindow } from "../thread/model-window.ts";
import {
  type AgentModel,
  assertModel,
  assertWindow,
  type CallSettings,
  callSettingsIn,
  type ModelObject,
  modelWindowOf,
  settingsFor,
} from "./model.ts";
import { sharedCounts } from "./remember-counts.ts";

export interface ModelOptions extends CallSettings {
  readonly model: ModelObject;
  /** The model's input window in tokens; without it the table of known models, else the summarization's fallback. */
  readonly contextWindow?: number;
  /** Tells providers apart that serve a model of the same name, for limits learned from them. */
  readonly baseUrl?: string;
  /** Whether the model takes its thoughts back only behind the prompt they were made under; by default told by its name. */
  readonly bindsReasoning?: boolean;
  /** The model's prices, which say when pruning pays; by default those known by its name. */
  readonly prices?: GivenPrices;
  /** Counts tokens, any function of a text; by default the best counter known for the model. */
  readonly counter?: GivenCounter;
}

export interface ModelSetup {
  readonly model: AgentModel;
  readonly modelWindow: ModelWindow;
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
  const { model: languageModel, contextWindow, baseUrl = null, counter } = options;
  const { provider, modelId } = languageModel;
  const model: AgentModel = {
    settings: settingsFor(languageModel, callSettingsIn(options)),
    contextWindow: contextWindow ?? knownWindow(modelId) ?? fallbackWindow,
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

/** Throws an `AgentError` for what is no model. */
export function assertModelOptions({ model, contextWindow }: Pick<ModelOptions, "model" | "contextWindow">): void {
  assertModel(model, "model");
  assertWindow(contextWindow);
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
  readonly contextWindow?: number;
}

/** An agent's setup with the model and the settings of one run. Models that runs bring are known from then on. */
export function modelFor(own: ModelSetup, given: RunModel, place: ModelPlace, known: KnownModels): ModelSetup {
  const { model, contextWindow } = given;
  const settings = callSettingsIn(given);
  const base = model === undefined && contextWindow === undefined ? own : another(own, given, place, known);
  if (Object.keys(settings).length === 0) return base;
  const { languageModel, ...before } = base.model.settings;
  const changed = { ...base.model, settings: settingsFor(languageModel, { ...before, ...settings }) };
  return { ...base, model: changed, modelWindow: withReserve(base.modelWindow, settings.maxOutputTokens) };
}

export type KnownModels = WeakMap<ModelObject, ModelSetup>;

function another(own: ModelSetup, given: RunModel, place: ModelPlace, known: KnownModels): ModelSetup {
  const { languageModel, ...settings } = own.model.settings;
  const { model = languageModel, contextWindow } = given;
  assertModelOptions({ model, ...(contextWindow !== undefined && { contextWindow }) });
  if (contextWindow !== undefined) return modelSetup({ ...settings, model, contextWindow }, place);
  const before = known.get(model) ?? modelSetup({ ...settings, model }, place);
  known.set(model, before);
  return before;
}

/** Longer answers need more of the window. */
function withReserve(modelWindow: ModelWindow, maxOutputTokens: number | undefined): ModelWindow {
  if (maxOutputTokens === undefined) return modelWindow;
  return {
    ...modelWindow,
    window() {
      const { size } = modelWindow.window();
      return { size, reserve: Math.min(answerReserve(size, maxOutputTokens), Math.floor(size / 2)) };
    },
  };
}

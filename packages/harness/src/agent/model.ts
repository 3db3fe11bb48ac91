/**
 * The model an agent asks: the SDK's model, what is known about its window, and the settings of its calls.
 */
import type { Prices } from "@palimpsest/core/pricing";
import { answerReserve } from "@palimpsest/core/tokens";
import type { LanguageModel, streamText, ToolChoice, ToolSet } from "ai";
import type { RequestParameters } from "../thread/fixed-request.ts";
import { createModelWindow, type ModelWindow, type ModelWindowOptions } from "../thread/model-window.ts";
import { AgentError } from "./errors.ts";

/** A model object. A bare name would send the conversation to a hosted router. */
export type ModelObject = Exclude<LanguageModel, string>;

/** Throws where something else stands for a model: a name would fail later, with words about something else. */
export function assertModel(given: unknown, option: string): asserts given is ModelObject {
  const { doStream, modelId } = (typeof given === "object" && given !== null ? given : {}) as Partial<ModelObject>;
  if (typeof doStream === "function" && typeof modelId === "string") return;
  const what = typeof given === "string" ? `the name ${JSON.stringify(given)}` : given === null ? "null" : typeof given;
  throw new AgentError(
    "bad-model",
    `\`${option}\` takes a model object of the AI SDK, and ${what} was given: for example openai("gpt-5") of @ai-sdk/openai. A name alone would send the conversation to a hosted router; names of a configuration are for createAgentFromConfig.`,
  );
}

export function assertWindow(given: number | undefined): void {
  if (given === undefined || (Number.isInteger(given) && given > 0)) return;
  throw new AgentError("bad-model", `contextWindow ${given} must be a whole number of tokens above 0`);
}

type Given = Parameters<typeof streamText>[0];

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
  readonly reasoning?: NonNullable<Given["reasoning"]>;
  /** Sent with every call, and never logged. */
  readonly headers?: Record<string, string | undefined>;
  readonly providerOptions?: NonNullable<Given["providerOptions"]>;
  /** A choice that forces a call holds for a run's first step only: with it in every step no run would end. */
  readonly toolChoice?: ToolChoice<ToolSet>;
}

const CALL_SETTINGS = [
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
export function callSettingsIn(options: CallSettings): CallSettings {
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
  readonly contextWindow: number;
  readonly baseUrl: string | null;
  /** It takes a thought of its own back only while all that stands before it is unchanged. */
  readonly bindsReasoning: boolean;
  readonly prices: Prices;
}

export function settingsFor(languageModel: ModelObject, given: CallSettings): ModelSettings {
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
export function modelWindowOf(
  { settings, contextWindow, baseUrl }: AgentModel,
  { clock, limitsStore }: Pick<ModelWindowOptions, "clock" | "limitsStore">,
): ModelWindow {
  const { provider, modelId } = settings.languageModel;
  return createModelWindow({
    endpoint: { provider, baseUrl, model: modelId },
    window: () => contextWindow,
    reserve: (size) => answerReserve(size, settings.maxOutputTokens ?? null),
    clock,
    limitsStore,
  });
}

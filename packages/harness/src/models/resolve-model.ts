/**
 * Names to models. A name that isn't in `models` falls back to the default one and says so: a typing error in a
 * configuration must not stop a conversation, nor pass unseen. The default is the first entry, else the offline model.
 */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { withoutCredentials } from "./address.ts";
import { bindsReasoning } from "./binds-reasoning.ts";
import { type ModelEntry, type ModelsConfig, OFFLINE } from "./entry.ts";
import { secretsOf } from "./hide-secrets.ts";
import { noteUnset, unsetVariable } from "./key-variables.ts";
import { keyOf, loadLanguageModel, type Surroundings } from "./providers.ts";
import { type ModelWindow, windowOf } from "./window.ts";
import { type BuiltIn, withSettings } from "./with-settings.ts";

export interface ResolvedModel {
  /** What the configuration calls it. */
  readonly name: string;
  readonly provider: ModelEntry["provider"];
  /** The provider's id for it. */
  readonly modelId: string;
  /** Where it is, without credentials; null: the provider's own address. */
  readonly baseUrl: string | null;
  readonly language: LanguageModelV4;
  readonly window: ModelWindow;
  readonly maxOutputTokens: number | null;
  readonly thinking: boolean;
  readonly supportsVision: boolean;
  /** It takes a thought of its own back only while all that stands before it is unchanged. */
  readonly bindsReasoning: boolean;
  readonly pricing: NonNullable<ModelEntry["pricing"]> | null;
  /** Another model stands in for the one asked for. */
  readonly fallback: ModelFallback | null;
}

export interface ModelFallback {
  readonly asked: string;
  readonly used: string;
  readonly message: string;
}

/** `name` null is the default model. */
export function resolveModel(
  config: ModelsConfig,
  name: string | null,
  surroundings: Surroundings = here(),
): Promise<ResolvedModel> {
  const standard = config.models[0] ?? OFFLINE;
  const match = name === null ? standard : config.models.find((entry) => entry.name === name);
  if (match !== undefined) return load(config, match, { fallback: null, surroundings });
  return load(config, standard, { fallback: fallbackFrom(name ?? "", standard, config), surroundings });
}

/** For summaries and memory: the model named, else the one marked `lightweight`, else the default with thinking off. */
export function lightweightModel(
  config: ModelsConfig,
  name: string | null = null,
  surroundings: Surroundings = here(),
): Promise<ResolvedModel> {
  const { named, light, standard } = lightweightEntries(config, name);
  if (named !== undefined) return load(config, named, { fallback: null, surroundings });
  const fallback = name === null ? null : fallbackFrom(name, light ?? standard, config);
  if (light !== undefined) return load(config, light, { fallback, surroundings });
  const quiet = { ...standard, thinking: false };
  const variable = unsetVariable(standard);
  if (variable !== undefined) noteUnset(quiet, variable);
  return load(config, quiet, { fallback, surroundings, wasThinking: standard.thinking });
}

function lightweightEntries({ models }: ModelsConfig, name: string | null) {
  return {
    named: models.find((entry) => entry.name === name),
    light: models.find((entry) => entry.lightweight),
    standard: models[0] ?? OFFLINE,
  };
}

/** The provider's id of the model that `lightweightModel` gives, without making it. */
export function lightweightModelId(config: ModelsConfig, name: string | null): string {
  const { named, light, standard } = lightweightEntries(config, name);
  return (named ?? light ?? standard).model;
}

/** A model object that a program made itself; of its window only what is known of its name. */
export function givenModel(language: LanguageModelV4, config: ModelsConfig): ResolvedModel {
  const { modelId } = language;
  const window = windowOf(
    { provider: language.provider, model: modelId },
    config.summarization.fallback_context_window,
  );
  return {
    name: modelId,
    provider: "openai-compatible",
    modelId,
    baseUrl: null,
    language,
    window,
    maxOutputTokens: null,
    thinking: false,
    supportsVision: false,
    bindsReasoning: bindsReasoning(modelId),
    pricing: null,
    fallback: null,
  };
}

const here = (): Surroundings => ({ env: process.env });

interface LoadOptions {
  readonly fallback: ModelFallback | null;
  readonly surroundings: Surroundings;
  /** It thinks unless told not to. */
  readonly wasThinking?: boolean;
}

async function load(config: ModelsConfig, entry: ModelEntry, options: LoadOptions): Promise<ResolvedModel> {
  const bare = await loadLanguageModel(entry, options.surroundings);
  const builtIn: BuiltIn = {
    ...(entry.max_output_tokens !== undefined && { maxOutputTokens: entry.max_output_tokens }),
    // Stored items would be sent as references, and what the log says would be ignored.
    ...(entry.provider === "openai" && { providerOptions: { openai: { store: false } } }),
    ...(entry.thinking && { reasoning: "medium" as const }),
    ...(options.wasThinking === true && { reasoning: "none" as const }),
  };
  return {
    name: entry.name,
    provider: entry.provider,
    modelId: entry.model,
    baseUrl: entry.base_url === undefined ? null : withoutCredentials(entry.base_url),
    language: withSettings(
      bare,
      builtIn,
      secretsOf({ api_key: keyOf(entry, options.surroundings.env), base_url: entry.base_url }),
    ),
    window: windowOf(entry, config.summarization.fallback_context_window),
    maxOutputTokens: entry.max_output_tokens ?? null,
    thinking: entry.thinking,
    supportsVision: entry.supports_vision,
    bindsReasoning: entry.binds_reasoning ?? bindsReasoning(entry.model),
    pricing: entry.pricing ?? null,
    fallback: options.fallback,
  };
}

function fallbackFrom(wanted: string, used: ModelEntry, { models }: ModelsConfig): ModelFallback {
  const names = models.length === 0 ? "none" : models.map(({ name }) => name).join(", ");
  const message = `The model "${wanted}" is not in \`models:\` (there: ${names}); "${used.name}" stands in for it.`;
  return { asked: wanted, used: used.name, message };
}

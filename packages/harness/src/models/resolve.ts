/**
 * Names to models. A name that isn't in `models` falls back to the default one and says so: a typing error in a
 * configuration must not stop a conversation, nor pass unseen. The default is the first entry, else the offline model.
 */

import type { EmbeddingModelV4, LanguageModelV4 } from "@ai-sdk/provider";
import { PalimpsestError } from "@palimpsest/core/internal/errors";
import { explainMissing } from "../optional-package.ts";
import {
  bindsReasoning,
  type EmbedderEntry,
  KEY_VARIABLES,
  keyOf,
  type ModelEntry,
  type ModelsConfig,
  type ModelWindow,
  OFFLINE,
  windowOf,
  withoutCredentials,
} from "./facts.ts";
import { type BuiltIn, boundedFetch, secretsOf, withSettings } from "./wrap.ts";

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

/*
 * From an entry of `models:` to a language model of the AI SDK, and from `recall.embedder` to an embedding model. Each
 * provider is imported at its first use only: they cost a tenth of a second each, and most programs use one.
 */

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly fetch?: typeof globalThis.fetch;
}

export async function loadLanguageModel(entry: ModelEntry, surroundings: Surroundings): Promise<LanguageModelV4> {
  const { provider: id, name, model } = entry;
  if (id === "offline") return (await import("./offline/offline-model.ts")).offlineModel();
  const where = "in its entry under `models:`. The provider `offline` needs none";
  const provider = await openProvider({ id, name, entry }, { subject: `The model "${name}"`, where }, surroundings);
  return provider.language(model);
}

export async function loadEmbeddingModel(entry: EmbedderEntry, surroundings: Surroundings): Promise<EmbeddingModelV4> {
  const { provider: id, model } = entry;
  const place = { subject: `The embedder "${model}"`, where: "under `recall.embedder`" };
  const provider = await openProvider({ id, name: id, entry }, place, surroundings);
  return provider.embedding(model);
}

interface Provider {
  language(model: string): LanguageModelV4;
  embedding(model: string): EmbeddingModelV4;
}

interface NamedProvider {
  readonly id: Exclude<ModelEntry["provider"], "offline">;
  /** What the AI SDK calls one that has no name of its own. */
  readonly name: string;
  readonly entry: ProviderEndpoint;
}

async function openProvider(
  { id, name, entry }: NamedProvider,
  place: ProviderPlace,
  surroundings: Surroundings,
): Promise<Provider> {
  const connection = connectionOf(entry, place, surroundings);
  const keyed = () => ({ ...connection, apiKey: requiredKey(entry, place, surroundings.env) });
  try {
    switch (id) {
      case "openai": {
        const settings = keyed();
        const openai = (await import("@ai-sdk/openai")).createOpenAI(settings);
        return { language: openai.responses, embedding: openai.embeddingModel };
      }
      case "anthropic": {
        const settings = keyed();
        const anthropic = (await import("@ai-sdk/anthropic")).createAnthropic(settings);
        return { language: anthropic, embedding: anthropic.embeddingModel };
      }
      case "google": {
        const settings = keyed();
        const google = (await import("@ai-sdk/google")).createGoogleGenerativeAI(settings);
        return { language: google, embedding: google.embeddingModel };
      }
      case "openai-compatible": {
        const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
        // Such a server may need no key; one whose variable isn't set was meant to be sent.
        if (unsetVariable(entry) !== undefined) requiredKey(entry, place, surroundings.env);
        const key = entry.api_key === undefined ? {} : { apiKey: entry.api_key };
        const settings = { ...connection, ...key, name, baseURL: addressOf(entry, place) };
        const compatible = createOpenAICompatible({ ...settings, includeUsage: true });
        return { language: compatible, embedding: compatible.embeddingModel };
      }
    }
  } catch (error) {
    throw explainMissing(error);
  }
}

/** What an error calls an entry, and where a person finds it. */
interface ProviderPlace {
  readonly subject: string;
  readonly where: string;
}

type ProviderEndpoint = Pick<ModelEntry, "provider" | "api_key" | "base_url">;

function connectionOf(entry: ProviderEndpoint, place: ProviderPlace, { fetch }: Surroundings) {
  return {
    ...(entry.base_url !== undefined && { baseURL: addressOf(entry, place) }),
    fetch: boundedFetch(fetch),
  };
}

function requiredKey(entry: ProviderEndpoint, { subject, where }: ProviderPlace, env: Surroundings["env"]): string {
  const key = keyOf(entry, env)?.trim();
  if (key !== undefined && key !== "") return key;
  const named = unsetVariable(entry);
  if (named !== undefined)
    throw new ModelError(
      "no-key",
      `${subject} has no key: $${named}, which its \`api_key\` names, is not set in the environment.`,
    );
  throw new ModelError(
    "no-key",
    `${subject} has no key: set ${KEY_VARIABLES[entry.provider]} in the environment, or \`api_key\` ${where}.`,
  );
}

function addressOf(entry: ProviderEndpoint, { subject }: ProviderPlace): string {
  const problem = (text: string) => new ModelError("bad-address", `${subject} ${text}`);
  const example = "for example http://127.0.0.1:11434/v1";
  if (entry.base_url === undefined) throw problem(`is openai-compatible and needs a \`base_url\`, ${example}.`);
  const url = URL.parse(entry.base_url);
  // The address itself may hold a password, so it isn't repeated.
  if (url === null || !/^https?:$/.test(url.protocol)) throw problem(`has a \`base_url\` that is no URL, ${example}.`);
  return entry.base_url.replace(/(?<!\/)\/+$/, "");
}

/** Entries whose `api_key` names a variable that wasn't set when they were read: an error can then name it. */
const unset = new WeakMap<object, string>();

export function noteUnset(entry: object, variable: string): void {
  unset.set(entry, variable);
}

function unsetVariable(entry: object): string | undefined {
  return unset.get(entry);
}

/*
 * Models that could be used at once, because their provider's key is in the environment: what `doctor`, `models`,
 * `config init` and the chat's banner offer to somebody who has configured none. Pure; the keys themselves are never read.
 */

export interface ModelOffer {
  /** The provider as people call it. */
  readonly from: string;
  /** The variable that holds the key. */
  readonly variable: string;
  readonly provider: ModelEntry["provider"];
  /** A good one to begin with; any other of the provider works as well. */
  readonly model: string;
  readonly baseUrl: string | null;
}

export function offeredModels(env: Readonly<Record<string, string | undefined>>): readonly ModelOffer[] {
  return OFFERS.filter(({ variable }) => (env[variable] ?? "").trim() !== "");
}

const own = (from: string, provider: ModelEntry["provider"], variable: string, model: string): ModelOffer => ({
  from,
  provider,
  variable,
  model,
  baseUrl: null,
});

const compatible = (from: string, variable: string, baseUrl: string, model: string): ModelOffer => ({
  from,
  provider: "openai-compatible",
  variable,
  model,
  baseUrl,
});

const OFFERS: readonly ModelOffer[] = [
  own("Anthropic", "anthropic", "ANTHROPIC_API_KEY", "claude-sonnet-4-5"),
  own("OpenAI", "openai", "OPENAI_API_KEY", "gpt-5-mini"),
  own("Google", "google", "GOOGLE_GENERATIVE_AI_API_KEY", "gemini-2.5-flash"),
  own("Google", "google", "GEMINI_API_KEY", "gemini-2.5-flash"),
  compatible("OpenRouter", "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1", "openai/gpt-4o-mini"),
  compatible("Mistral", "MISTRAL_API_KEY", "https://api.mistral.ai/v1", "mistral-small-latest"),
  compatible("Groq", "GROQ_API_KEY", "https://api.groq.com/openai/v1", "llama-3.3-70b-versatile"),
  compatible("DeepSeek", "DEEPSEEK_API_KEY", "https://api.deepseek.com/v1", "deepseek-chat"),
];

/* What can be wrong with a model before it is called. */

export class ModelError extends PalimpsestError<"no-key" | "bad-address"> {
  static override readonly kind = "ModelError";
}

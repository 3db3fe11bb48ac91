/**
 * From an entry of `models:` to a language model of the AI SDK, and from `recall.embedder` to an embedding model. Each provider is imported at its first use only: they
 * cost a tenth of a second each, and most programs use one.
 */
import type { EmbeddingModelV4, LanguageModelV4 } from "@ai-sdk/provider";
import { explainMissing } from "../optional-package.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import type { EmbedderEntry, ModelEntry } from "./entry.ts";
import { KEY_VARIABLES, unsetVariable } from "./key-variables.ts";
import { ModelError } from "./model-error.ts";

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly fetch?: typeof globalThis.fetch;
}

export async function loadLanguageModel(entry: ModelEntry, surroundings: Surroundings): Promise<LanguageModelV4> {
  const place = { subject: `The model "${entry.name}"`, where: "in its entry under `models:`" };
  const connection = connectionOf(entry, place, surroundings);
  try {
    switch (entry.provider) {
      case "openai": {
        const apiKey = requiredKey(entry, place, surroundings.env);
        const { createOpenAI } = await import("@ai-sdk/openai");
        return createOpenAI({ ...connection, apiKey }).responses(entry.model);
      }
      case "anthropic": {
        const apiKey = requiredKey(entry, place, surroundings.env);
        const { createAnthropic } = await import("@ai-sdk/anthropic");
        return createAnthropic({ ...connection, apiKey })(entry.model);
      }
      case "google": {
        const apiKey = requiredKey(entry, place, surroundings.env);
        const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
        return createGoogleGenerativeAI({ ...connection, apiKey })(entry.model);
      }
      case "openai-compatible": {
        const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
        const key = entry.api_key === undefined ? {} : { apiKey: entry.api_key };
        const baseURL = addressOf(entry, place);
        return createOpenAICompatible({ ...connection, ...key, name: entry.name, baseURL, includeUsage: true })(
          entry.model,
        );
      }
      case "offline": {
        const { offlineModel } = await import("./offline/offline-model.ts");
        return offlineModel();
      }
    }
  } catch (error) {
    throw explainMissing(error);
  }
}

export async function loadEmbeddingModel(entry: EmbedderEntry, surroundings: Surroundings): Promise<EmbeddingModelV4> {
  const place = { subject: `The embedder "${entry.model}"`, where: "under `recall.embedder`" };
  const connection = connectionOf(entry, place, surroundings);
  try {
    switch (entry.provider) {
      case "openai": {
        const apiKey = requiredKey(entry, place, surroundings.env);
        const { createOpenAI } = await import("@ai-sdk/openai");
        return createOpenAI({ ...connection, apiKey }).embeddingModel(entry.model);
      }
      case "google": {
        const apiKey = requiredKey(entry, place, surroundings.env);
        const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
        return createGoogleGenerativeAI({ ...connection, apiKey }).embeddingModel(entry.model);
      }
      case "openai-compatible": {
        const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
        const key = entry.api_key === undefined ? {} : { apiKey: entry.api_key };
        const baseURL = addressOf(entry, place);
        return createOpenAICompatible({ ...connection, ...key, name: entry.provider, baseURL }).embeddingModel(
          entry.model,
        );
      }
    }
  } catch (error) {
    throw explainMissing(error);
  }
}

/** What an error calls an entry, and where a person finds it. */
interface Place {
  readonly subject: string;
  readonly where: string;
}

type Endpoint = Pick<ModelEntry, "provider" | "api_key" | "base_url">;

function connectionOf(entry: Endpoint, place: Place, { fetch }: Surroundings) {
  return {
    ...(entry.base_url !== undefined && { baseURL: addressOf(entry, place) }),
    fetch: boundedFetch(fetch),
  };
}

/** The entry's own key, else the variable its provider is known for. */
export function keyOf(entry: Endpoint, env: Surroundings["env"]): string | undefined {
  const variable = KEY_VARIABLES[entry.provider];
  return entry.api_key ?? (variable === undefined ? undefined : env[variable]);
}

function requiredKey(entry: Endpoint, { subject, where }: Place, env: Surroundings["env"]): string {
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
    `${subject} has no key: set ${KEY_VARIABLES[entry.provider]} in the environment, or \`api_key\` ${where}. The provider \`offline\` needs none.`,
  );
}

function addressOf(entry: Endpoint, { subject }: Place): string {
  const problem = (text: string) => new ModelError("bad-address", `${subject} ${text}`);
  const example = "for example http://127.0.0.1:11434/v1";
  if (entry.base_url === undefined) throw problem(`is openai-compatible and needs a \`base_url\`, ${example}.`);
  const url = URL.parse(entry.base_url);
  // The address itself may hold a password, so it isn't repeated.
  if (url === null || !/^https?:$/.test(url.protocol)) throw problem(`has a \`base_url\` that is no URL, ${example}.`);
  return entry.base_url.replace(/(?<!\/)\/+$/, "");
}

/**
 * From an entry of `models:` to a language model of the AI SDK, and from `recall.embedder` to an embedding model. Each
 * provider is imported at its first use only: they cost a tenth of a second each, and most programs use one.
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
  readonly entry: Endpoint;
}

async function openProvider(
  { id, name, entry }: NamedProvider,
  place: Place,
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
    `${subject} has no key: set ${KEY_VARIABLES[entry.provider]} in the environment, or \`api_key\` ${where}.`,
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

/**
 * The embedding model that `recall.embedder` describes. It is made at its first request, so that a home whose key is missing
 * opens as ever and only that request fails; its secrets are kept out of its errors.
 */
import type { EmbeddingModelV4 } from "@ai-sdk/provider";
import { type EmbedderEntry, keyOf } from "./facts.ts";
import { loadEmbeddingModel, type Surroundings } from "./resolve.ts";
import { hideSecrets, secretsOf } from "./wrap.ts";

/** One embedder per entry, so that searching and indexing share its state, such as failures. */
export function configuredEmbedder(
  entry: EmbedderEntry,
  surroundings: Surroundings = { env: process.env },
): EmbeddingModelV4 {
  const known = made.get(entry);
  if (known !== undefined) return known;
  const embedder = createEmbedder(entry, surroundings);
  made.set(entry, embedder);
  return embedder;
}

const made = new WeakMap<EmbedderEntry, EmbeddingModelV4>();

/** The least that any of the providers takes in one request: Google. */
const MOST_TEXTS = 100;

function createEmbedder(entry: EmbedderEntry, surroundings: Surroundings): EmbeddingModelV4 {
  const secrets = secretsOf({ api_key: keyOf(entry, surroundings.env), base_url: entry.base_url });
  let loading: Promise<EmbeddingModelV4> | undefined;
  const load = (): Promise<EmbeddingModelV4> => {
    loading ??= loadEmbeddingModel(entry, surroundings);
    return loading;
  };
  return {
    specificationVersion: "v4",
    provider: entry.provider,
    modelId: entry.model,
    maxEmbeddingsPerCall: MOST_TEXTS,
    supportsParallelCalls: false,
    async doEmbed(options) {
      try {
        return await (await load()).doEmbed(options);
      } catch (error) {
        throw hideSecrets(error, secrets);
      }
    },
  };
}

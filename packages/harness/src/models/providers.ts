/**
 * From an entry of `models:` to a language model of the AI SDK. Each provider is imported at its first use only: they
 * cost a tenth of a second each, and most programs use one.
 */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { explainMissing } from "../optional-package.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import type { ModelEntry } from "./entry.ts";
import { KEY_VARIABLES, unsetVariable } from "./key-variables.ts";
import { ModelError } from "./model-error.ts";

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly fetch?: typeof globalThis.fetch;
}

export async function loadLanguageModel(entry: ModelEntry, surroundings: Surroundings): Promise<LanguageModelV4> {
  const connection = {
    ...(entry.base_url !== undefined && { baseURL: addressOf(entry) }),
    fetch: boundedFetch(surroundings.fetch),
  };
  try {
    switch (entry.provider) {
      case "openai": {
        const apiKey = requiredKey(entry, surroundings.env);
        const { createOpenAI } = await import("@ai-sdk/openai");
        return createOpenAI({ ...connection, apiKey }).responses(entry.model);
      }
      case "anthropic": {
        const apiKey = requiredKey(entry, surroundings.env);
        const { createAnthropic } = await import("@ai-sdk/anthropic");
        return createAnthropic({ ...connection, apiKey })(entry.model);
      }
      case "google": {
        const apiKey = requiredKey(entry, surroundings.env);
        const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
        return createGoogleGenerativeAI({ ...connection, apiKey })(entry.model);
      }
      case "openai-compatible": {
        const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
        const key = entry.api_key === undefined ? {} : { apiKey: entry.api_key };
        const baseURL = addressOf(entry);
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

/** The entry's own key, else the variable its provider is known for. */
export function keyOf(entry: ModelEntry, env: Surroundings["env"]): string | undefined {
  const variable = KEY_VARIABLES[entry.provider];
  return entry.api_key ?? (variable === undefined ? undefined : env[variable]);
}

function requiredKey(entry: ModelEntry, env: Surroundings["env"]): string {
  const key = keyOf(entry, env)?.trim();
  if (key !== undefined && key !== "") return key;
  const named = unsetVariable(entry);
  if (named !== undefined)
    throw new ModelError(
      "no-key",
      `The model "${entry.name}" has no key: $${named}, which its \`api_key\` names, is not set in the environment.`,
    );
  throw new ModelError(
    "no-key",
    `The model "${entry.name}" has no key: set ${KEY_VARIABLES[entry.provider]} in the environment, or \`api_key\` in its entry under \`models:\`. The provider \`offline\` needs none.`,
  );
}

function addressOf(entry: ModelEntry): string {
  const problem = (text: string) => new ModelError("bad-address", `The model "${entry.name}" ${text}`);
  const example = "for example http://127.0.0.1:11434/v1";
  if (entry.base_url === undefined) throw problem(`is openai-compatible and needs a \`base_url\`, ${example}.`);
  const url = URL.parse(entry.base_url);
  // The address itself may hold a password, so it isn't repeated.
  if (url === null || !/^https?:$/.test(url.protocol)) throw problem(`has a \`base_url\` that is no URL, ${example}.`);
  return entry.base_url.replace(/(?<!\/)\/+$/, "");
}

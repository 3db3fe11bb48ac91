/** What a chat model says of itself, as far as a window and a tokenizer are chosen by it. */
import { windowOf } from "palimpsest/internal/models";

export interface ModelFacts {
  readonly name: string | null;
  readonly window: number;
}

/** Of a model that nothing is known of. */
const FALLBACK_WINDOW = 32_768;

export function modelFacts(model: unknown): ModelFacts {
  const fields = model as Readonly<Record<string, unknown>>;
  const name = [fields["model"], fields["modelName"]].find((one) => typeof one === "string");
  const stated = (fields["profile"] as { readonly maxInputTokens?: unknown } | undefined)?.maxInputTokens;
  const listed = windowOf({ provider: "langchain", model: name ?? "" }, FALLBACK_WINDOW).tokens;
  return { name: name ?? null, window: typeof stated === "number" ? stated : listed };
}

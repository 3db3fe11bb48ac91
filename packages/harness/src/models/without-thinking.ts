/**
 * A call's settings with thinking turned off, for calls that need none, such as summaries. A model that wasn't told to
 * think is told nothing: many refuse a word about it, or warn.
 */
import type { SharedV4ProviderOptions } from "@ai-sdk/provider";
import { builtInReasoning } from "./with-settings.ts";

export interface QuietCall {
  readonly providerOptions?: SharedV4ProviderOptions;
  /** Set when the model would think otherwise. */
  readonly reasoning?: "none";
}

/** `given` are the provider options of the calls that may think. */
export function withoutThinking(model: object, given: SharedV4ProviderOptions | undefined): QuietCall {
  const kept: SharedV4ProviderOptions = {};
  let thinks = (builtInReasoning(model) ?? "none") !== "none";
  for (const [provider, options] of Object.entries(given ?? {})) {
    const others = Object.entries(options).filter(([key]) => !THINKING.has(key));
    thinks ||= others.length < Object.keys(options).length;
    kept[provider] = Object.fromEntries(others);
  }
  return { ...(given !== undefined && { providerOptions: kept }), ...(thinks && { reasoning: "none" as const }) };
}

/** What the providers call it: OpenAI, Anthropic, Google, OpenRouter and its like. */
const THINKING: ReadonlySet<string> = new Set([
  "reasoningEffort",
  "reasoningSummary",
  "reasoningMode",
  "thinking",
  "effort",
  "thinkingConfig",
  "reasoning",
]);

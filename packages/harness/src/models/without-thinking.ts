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
export function withoutThinking(model: object, callOptions: SharedV4ProviderOptions | undefined): QuietCall {
  const quiet: SharedV4ProviderOptions = {};
  let thinks = (builtInReasoning(model) ?? "none") !== "none";
  for (const [provider, options] of Object.entries(callOptions ?? {})) {
    const others = Object.entries(options).filter(([key]) => !THINKING.has(key));
    thinks ||= others.length < Object.keys(options).length;
    quiet[provider] = Object.fromEntries(others);
  }
  return {
    ...(callOptions !== undefined && { providerOptions: quiet }),
    ...(thinks && { reasoning: "none" as const }),
  };
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

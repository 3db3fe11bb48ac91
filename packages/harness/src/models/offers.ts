/**
 * Models that could be used at once, because their provider's key is in the environment: what `doctor`, `models`,
 * `config init` and the chat's banner offer to somebody who has configured none. Pure; the keys themselves are never read.
 */
import type { ModelEntry } from "./entry.ts";

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

/**
 * List prices of well-known models in US dollars per million tokens, as of the date below (Anthropic's from its own pages,
 * the others' as they are quoted); for prompts of ordinary length and without discounts. They change: `pricing` in the
 * configuration comes first.
 */

export const PRICES_AS_OF = "2026-11";

export interface TokenPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** Null for a model we don't know. */
export function knownPrices(model: string): TokenPrices | null {
  const row = PRICES.find(([pattern]) => pattern.test(model.toLowerCase()));
  if (row === undefined) return null;
  const [, input, output, cacheRead, cacheWrite = input] = row;
  return { input, output, cacheRead, cacheWrite };
}

/** Input, output, cache read and, where it costs more than reading anew, cache write. A date or `-latest` may follow. */
const PRICES: readonly (readonly [RegExp, number, number, number, number?])[] = [
  // OpenAI
  [exactly("gpt-5(?:\\.1)?"), 1.25, 10, 0.125],
  [exactly("gpt-5-mini"), 0.25, 2, 0.025],
  [exactly("gpt-5-nano"), 0.05, 0.4, 0.005],
  [exactly("gpt-4\\.1"), 2, 8, 0.5],
  [exactly("gpt-4\\.1-mini"), 0.4, 1.6, 0.1],
  [exactly("gpt-4\\.1-nano"), 0.1, 0.4, 0.025],
  [exactly("gpt-4o"), 2.5, 10, 1.25],
  [exactly("gpt-4o-mini"), 0.15, 0.6, 0.075],
  [exactly("o3"), 2, 8, 0.5],
  [exactly("o4-mini"), 1.1, 4.4, 0.275],
  [exactly("text-embedding-3-small"), 0.02, 0, 0.02],
  [exactly("text-embedding-3-large"), 0.13, 0, 0.13],
  // Anthropic; a cache entry of five minutes
  [exactly("claude-fable-5-1"), 10, 50, 0.25, 12.5],
  [exactly("claude-fable-5"), 10, 50, 1, 12.5],
  [exactly("claude-opus-5-5"), 4, 20, 0.2, 5],
  [exactly("claude-opus-(?:4-[5-8]|5)"), 5, 25, 0.5, 6.25],
  [exactly("claude-opus-4(?:-[01])?"), 15, 75, 1.5, 18.75],
  [exactly("claude-sonnet-5(?:-5)?"), 2, 10, 0.2, 2.5],
  [exactly("claude-(?:sonnet-4(?:-[056])?|3-7-sonnet|3-5-sonnet)"), 3, 15, 0.3, 3.75],
  [exactly("claude-haiku-4-5"), 1, 5, 0.1, 1.25],
  [exactly("claude-3-5-haiku"), 0.8, 4, 0.08, 1],
  // Google
  [exactly("gemini-2\\.5-pro"), 1.25, 10, 0.125],
  [exactly("gemini-2\\.5-flash"), 0.3, 2.5, 0.03],
  [exactly("gemini-2\\.5-flash-lite"), 0.1, 0.4, 0.01],
];

/** Another variant of a model has another price, so only a date or `latest` may follow its name. */
function exactly(name: string): RegExp {
  return new RegExp(`^${name}(?:-latest|-\\d{8}|-\\d{4}-\\d{2}-\\d{2})?$`);
}

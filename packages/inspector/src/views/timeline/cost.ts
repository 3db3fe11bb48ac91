/** What a request cost, and how much of it the provider's cache held. Pure. */

export interface UsageFacts {
  readonly input: number;
  readonly output?: unknown;
  readonly cacheRead?: unknown;
  readonly cacheWrite?: unknown;
}

/** Per million tokens. */
export interface Prices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** `input` is the whole prompt, cached part included. */
export function costOf({ input, output, cacheRead, cacheWrite }: UsageFacts, prices: Prices): number {
  const [read, written, answered] = [cacheRead, cacheWrite, output].map((value) => Number(value ?? 0)) as [
    number,
    number,
    number,
  ];
  const anew = Math.max(0, input - read - written);
  return (anew * prices.input + read * prices.cacheRead + written * prices.cacheWrite + answered * prices.output) / 1e6;
}

export function cacheShare({ input, cacheRead }: UsageFacts): number {
  return input === 0 ? 0 : Math.min(1, Number(cacheRead ?? 0) / input);
}

interface PricedModel {
  readonly name: string;
  readonly model: string;
  readonly prices: unknown;
}

/** By the name of its entry, or by the provider's own. Null: nobody knows. */
export function pricesFor(models: readonly PricedModel[], model: string): Prices | null {
  const found = models.find((one) => one.name === model) ?? models.find((one) => one.model === model);
  const prices = found?.prices as Prices | null | undefined;
  return typeof prices?.input === "number" ? prices : null;
}

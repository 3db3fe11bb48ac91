/**
 * Random choices that are the same on every machine: a small linear congruential generator and two ways to draw from it.
 */
export interface SeededRandom {
  /** At least 0 and under 1. */
  next(): number;
  /** A whole number, both ends included. */
  between(low: number, high: number): number;
  pick<T>(options: readonly T[]): T;
}

export function seeded(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return {
    next,
    between: (low, high) => low + Math.floor(next() * (high - low + 1)),
    pick: (options) => options[Math.floor(next() * options.length)]!,
  };
}

/**
 * How much of the end a keep policy wants: the index the tail would begin at if any message could begin it.
 */
import { isCeilings, type Keep, type Threshold, tokensOf, type Window } from "./policy.ts";

/** `sizes` are the tokens of the messages that may be kept or hidden, in order. */
export function keepFrom(sizes: readonly number[], keep: Keep, window: Window): number {
  if (!isCeilings(keep)) return promised(sizes, keep, window);
  return Math.max(0, ...keep.map((ceiling) => allowed(sizes, ceiling, window)));
}

/** The shortest tail that holds at least the promised amount. */
function promised(sizes: readonly number[], keep: Threshold, window: Window): number {
  const tokens = tokensOf(keep, window);
  if (tokens === null) return Math.max(0, sizes.length - Math.max(0, Math.floor(keep.value)));
  let sum = 0;
  let index = sizes.length;
  while (index > 0 && sum < tokens) sum += sizes[--index]!;
  return index;
}

/** The longest tail that stays within the ceiling. */
function allowed(sizes: readonly number[], ceiling: Threshold, window: Window): number {
  const tokens = tokensOf(ceiling, window);
  if (tokens === null) return Math.max(0, sizes.length - Math.max(0, Math.floor(ceiling.value)));
  let sum = 0;
  let index = sizes.length;
  while (index > 0 && sum + sizes[index - 1]! <= tokens) sum += sizes[--index]!;
  return index;
}

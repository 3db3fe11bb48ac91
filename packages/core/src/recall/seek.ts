/**
 * Decides which entries a store has to fetch: all that hold a rare term; of common terms only those that hold a second one
 * too. The amount fetched is bounded, whatever the size of the scope, and the choice is core's, so every store fetches the same.
 */
import type { ScopeStatistics, Seek } from "./port.ts";
import type { QueryTerm } from "./query.ts";

interface SeekLimits {
  /** Terms are sought alone while the entries that hold them add up to this. */
  readonly matches: number;
  /** The newest of those that hold two common terms, and how many such pairs. */
  readonly pairMatches: number;
  readonly pairs: number;
}

const SEEK_LIMITS: SeekLimits = { matches: 250, pairMatches: 40, pairs: 4 };

export function planSeeks(terms: readonly QueryTerm[], statistics: ScopeStatistics, limits = SEEK_LIMITS): Seek[] {
  const held = (term: string): number => statistics.holding.get(term) ?? 0;
  const rarestFirst = terms
    .map(({ term }) => term)
    .filter((term) => held(term) > 0)
    .sort((a, b) => held(a) - held(b) || (a < b ? -1 : 1));
  const seeks: Seek[] = [];
  let matches = 0;
  let alone = 0;
  for (const term of rarestFirst) {
    if (matches + held(term) > limits.matches) break;
    matches += held(term);
    alone += 1;
    seeks.push({ all: [term], limit: limits.matches });
  }
  if (alone === 0 && rarestFirst[0] !== undefined)
    seeks.push({ all: [rarestFirst[0]], limit: Math.floor(limits.matches / 2) });
  let pairs = 0;
  for (let second = Math.max(alone, 1); second < rarestFirst.length; second += 1) {
    for (let first = alone; first < second && pairs < limits.pairs; first += 1) {
      seeks.push({ all: [rarestFirst[first]!, rarestFirst[second]!], limit: limits.pairMatches });
      pairs += 1;
    }
  }
  return seeks;
}

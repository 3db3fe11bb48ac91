/**
 * Decides which entries a store has to fetch: all that hold a rare term; of common terms only those that hold a second one
 * too. The amount fetched is bounded, whatever the size of the scope, and the choice is core's, so every store fetches the same.
 */
import type { ScopeStatistics, Seek } from "./port.ts";
import type { QueryTerm } from "./query.ts";

/** Terms are sought alone while the entries that hold them add up to this. */
const MATCHES = 200;
/** The newest of those that hold two common terms, and how many such pairs. */
const PAIR_MATCHES = 40;
const PAIRS = 4;

export function planSeeks(terms: readonly QueryTerm[], statistics: ScopeStatistics, most = MATCHES): Seek[] {
  const held = (term: string): number => statistics.holding.get(term) ?? 0;
  const rarestFirst = terms
    .map(({ term }) => term)
    .filter((term) => held(term) > 0)
    .sort((a, b) => held(a) - held(b) || (a < b ? -1 : 1));
  const seeks: Seek[] = [];
  let matches = 0;
  let alone = 0;
  for (const term of rarestFirst) {
    if (matches + held(term) > most) break;
    matches += held(term);
    alone += 1;
    seeks.push({ all: [term], limit: most });
  }
  if (alone === 0 && rarestFirst[0] !== undefined) seeks.push({ all: [rarestFirst[0]], limit: Math.floor(most / 2) });
  let pairs = 0;
  for (let second = Math.max(alone, 1); second < rarestFirst.length; second += 1) {
    for (let first = alone; first < second && pairs < PAIRS; first += 1) {
      seeks.push({ all: [rarestFirst[first]!, rarestFirst[second]!], limit: PAIR_MATCHES });
      pairs += 1;
    }
  }
  return seeks;
}

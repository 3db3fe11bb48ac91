/**
 * One search: read the question, ask the index for statistics and candidates, rank. The index does the reading, everything that
 * decides is here and in the pure functions it calls.
 */
import type { RecallIndex, Scope } from "./port.ts";
import { analyzeQuery } from "./query.ts";
import { type Hit, RANKING, type RankOptions, rank } from "./rank.ts";
import { planSeeks } from "./seek.ts";

export interface SearchOptions {
  /** How many hits at most; 20 unless told. */
  readonly limit?: number;
  readonly ranking?: RankOptions;
  /** How many entries that hold a rare term are looked at; 200 unless told. More find a little more and cost time. */
  readonly matches?: number;
}

export type SearchResult =
  | { readonly kind: "found"; readonly hits: readonly Hit[] }
  /** `no-terms`: the question is empty or holds only words that stand in every text. */
  | { readonly kind: "nothing"; readonly reason: "no-terms" | "no-match" };

export async function search(
  index: RecallIndex,
  scope: Scope,
  question: string,
  options: SearchOptions = {},
): Promise<SearchResult> {
  const ranking = options.ranking ?? RANKING;
  const query = analyzeQuery(question);
  if (query.terms.length === 0) return { kind: "nothing", reason: "no-terms" };
  const terms = query.terms.map(({ term }) => term);
  const statistics = await index.statistics(scope, terms);
  const seeks = planSeeks(query.terms, statistics, options.matches);
  if (seeks.length === 0) return { kind: "nothing", reason: "no-match" };
  const candidates = await index.candidates(scope, { terms, seeks, reach: ranking.neighborWeights.length });
  const limit = Math.max(1, options.limit ?? 20);
  const hits = rank(query, candidates, statistics, { ...ranking, limit }).slice(0, limit);
  return hits.length === 0 ? { kind: "nothing", reason: "no-match" } : { kind: "found", hits };
}

/**
 * BM25 over pooled frequencies. In a conversation the words of an answer often stand in the turn before it, so short entries
 * share part of their term frequencies with their neighbors in the session, before saturation. Then: the speaker a question
 * names, the time it states or asks for, and exact rare identifiers before all else.
 * Pure and deterministic: the order of the candidates given doesn't matter.
 */

import { fold } from "../text/analyze.ts";
import { nearness } from "./dates.ts";
import type { IndexedDoc, ScopeStatistics } from "./port.ts";
import { type Query, type QueryTerm, TIME_TERM } from "./query.ts";

export interface Hit {
  readonly doc: IndexedDoc;
  readonly score: number;
}

/** With how many rare identifiers of the question it holds: they go before the score. */
export interface RankedHit extends Hit {
  readonly exact: number;
}

export interface RankOptions {
  readonly k1: number;
  readonly b: number;
  /** The share of its frequencies that an entry gives at distance 1, 2, ...; the length is the reach. */
  readonly neighborWeights: readonly number[];
  /** What a question gives on top to the entry right after it. */
  readonly answerWeight: number;
  /** Only entries up to this length give and take: a long one is ranked by its own words. */
  readonly shortLength: number;
  /** A question seldom holds its answer: a short entry that asks counts a little less than one that tells. */
  readonly asking: number;
  readonly namedSpeaker: number;
  /** Where a question asks for a time, an entry that names one. */
  readonly namedTime: number;
  readonly statedDate: number;
  /** An identifier held by at most this many entries goes before everything else. */
  readonly rareIdentifier: number;
  /** At least so many of the best, in order; all when not given. */
  readonly limit?: number;
}

export const RANKING: RankOptions = {
  k1: 1.2,
  b: 0.25,
  neighborWeights: [0.45, 0.28, 0.15, 0.08],
  answerWeight: 0.6,
  shortLength: 60,
  asking: 0.87,
  namedSpeaker: 1.25,
  namedTime: 1.3,
  statedDate: 0.25,
  rareIdentifier: 20,
};

export function rank(
  query: Query,
  candidates: readonly IndexedDoc[],
  statistics: ScopeStatistics,
  options: RankOptions = RANKING,
): RankedHit[] {
  const docs = [...candidates].sort(inConversationOrder);
  const terms = query.terms;
  const pooled = poolFrequencies(docs, terms, options);
  const idf = terms.map((term) => inverseFrequency(term, statistics));
  const averageLength = statistics.totalLength / Math.max(1, statistics.entries) || 1;
  const named = namedSpeaker(query, docs);
  const timeTerm = terms.findIndex(({ term }) => term === TIME_TERM);
  const scored: RankedHit[] = [];
  docs.forEach((doc, index) => {
    const norm = options.k1 * (1 - options.b + (options.b * doc.length) / averageLength);
    let score = 0;
    for (let t = 0; t < terms.length; t += 1) {
      const frequency = pooled[index * terms.length + t]!;
      if (frequency > 0) score += (idf[t]! * frequency * (options.k1 + 1)) / (frequency + norm);
    }
    if (score <= 0) return;
    if (named !== null && doc.speaker === named) score *= options.namedSpeaker;
    if (doc.asks && doc.length <= options.shortLength) score *= options.asking;
    if (timeTerm >= 0 && doc.frequencies[timeTerm]! > 0) score *= options.namedTime;
    score *= 1 + options.statedDate * dateNearness(doc.at, query);
    scored.push({ doc, score, exact: exactIdentifiers(doc, terms, statistics, options) });
  });
  const best = options.limit === undefined ? scored : strongest(scored, options.limit);
  best.sort((a, b) => b.exact - a.exact || b.score - a.score || -inConversationOrder(a.doc, b.doc));
  return best;
}

/** Those that can be among the first `limit`, ties included; sorting the rest would be most of the work. */
function strongest<T extends { readonly score: number; readonly exact: number }>(scored: T[], limit: number): T[] {
  if (scored.length <= limit) return scored;
  const least = Float64Array.from(scored, ({ score }) => score).sort()[scored.length - limit]!;
  return scored.filter(({ score, exact }) => score >= least || exact > 0);
}

function inConversationOrder(a: IndexedDoc, b: IndexedDoc): number {
  if (a.threadId !== b.threadId) return a.threadId < b.threadId ? -1 : 1;
  return a.ordinal - b.ordinal || a.seq - b.seq;
}

function inverseFrequency({ term, weight }: QueryTerm, statistics: ScopeStatistics): number {
  const holders = Math.min(statistics.holding.get(term) ?? 0, statistics.entries);
  return weight * Math.log(1 + (statistics.entries - holders + 0.5) / (holders + 0.5));
}

/** A row per entry, a column per term: its own frequencies plus its neighbors' share. */
function poolFrequencies(docs: readonly IndexedDoc[], terms: readonly QueryTerm[], options: RankOptions): Float64Array {
  const width = terms.length;
  const shared = terms.filter(({ alone }) => !alone).length;
  const pooled = new Float64Array(docs.length * width);
  const holds = docs.map((doc, index) => {
    let anyTerm = false;
    for (let t = 0; t < width; t += 1) {
      pooled[index * width + t] = doc.frequencies[t]!;
      anyTerm ||= t < shared && doc.frequencies[t]! > 0;
    }
    return anyTerm;
  });
  const give = (from: number, to: number, share: number): void => {
    for (let t = 0; t < shared; t += 1) pooled[to * width + t]! += share * docs[from]!.frequencies[t]!;
  };
  docs.forEach((doc, index) => {
    if (doc.length > options.shortLength) return;
    for (let next = index + 1; next < docs.length; next += 1) {
      const other = docs[next]!;
      const distance = other.ordinal - doc.ordinal;
      if (distance > options.neighborWeights.length || !sameSession(doc, other)) break;
      if (distance < 1 || other.length > options.shortLength) continue;
      const share = options.neighborWeights[distance - 1]!;
      if (holds[index]) give(index, next, share + (distance === 1 && doc.asks ? options.answerWeight : 0));
      if (holds[next]) give(next, index, share);
    }
  });
  return pooled;
}

function sameSession(a: IndexedDoc, b: IndexedDoc): boolean {
  return a.session === b.session && a.threadId === b.threadId;
}

/** The one speaker the question names; null when it names none or several. */
function namedSpeaker(query: Query, docs: readonly IndexedDoc[]): string | null {
  const named = new Set<string>();
  const seen = new Set<string>();
  for (const { speaker } of docs) {
    if (seen.has(speaker)) continue;
    seen.add(speaker);
    const words = fold(speaker)
      .split(/[^\p{L}\p{M}\p{N}]+/u)
      .filter((word) => word.length > 1);
    if (words.some((word) => query.words.has(word))) named.add(speaker);
  }
  const [only] = named;
  return named.size === 1 && only !== undefined ? only : null;
}

/** How near a message is to a date the question states; 0 when it states none. */
function dateNearness(at: string, { dates }: Query): number {
  return dates.reduce((best, date) => Math.max(best, nearness(at, date)), 0);
}

function exactIdentifiers(
  doc: IndexedDoc,
  terms: readonly QueryTerm[],
  statistics: ScopeStatistics,
  options: RankOptions,
): number {
  let termCount = 0;
  terms.forEach((term, t) => {
    const rare = (statistics.holding.get(term.term) ?? 0) <= options.rareIdentifier;
    if (term.exact && rare && doc.frequencies[t]! >= 0.7) termCount += 1;
  });
  return termCount;
}

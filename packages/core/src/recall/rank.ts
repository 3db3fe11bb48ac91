/**
 * BM25 over pooled frequencies. In a conversation the words of an answer often stand in the turn before it, so short entries
 * share part of their term frequencies with their neighbors in the session, before saturation; where one of two neighbors is long,
 * they share scores. Then: who spoke, the speaker a question names, the time it states or asks for, and exact rare identifiers
 * before all else.
 * Pure and deterministic: the order of the candidates given doesn't matter.
 */
import { fold } from "../text/analyze.ts";
import { MOST_PASSAGES, type QueryTerm, type RecallQuery, SHORT_LENGTH, TIME_TERM } from "./entry.ts";
import type { IndexedDoc, ScopeStatistics } from "./port.ts";
import { inPrecedence, nearness, type TermSets } from "./precedence.ts";
import { STANDING_TERM } from "./standing.ts";

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
  /** How much all of a long message counts beside its best passage. */
  readonly wholeShare: number;
  /** The share of its frequencies that an entry gives at distance 1, 2, ...; the length is the reach. */
  readonly neighborWeights: readonly number[];
  /** What a question gives on top to the entry right after it. */
  readonly answerWeight: number;
  /** Only entries up to this length share frequencies: a long one is ranked by its own words, and shares its score instead. */
  readonly shortLength: number;
  /** Where one of two neighbors is long: the share of the other's score. */
  readonly scoreOfPrevious: number;
  readonly scoreOfNext: number;
  /** So many hits are ranked one by one. */
  readonly firstHits: number;
  /** After them a request and its answer count together: the share of the other's score. */
  readonly exchangeShare: number;
  /** What a user's message gains where at least half of the messages are the user's; where fewer are, it gains less. */
  readonly userGain: number;
  /** The same gain where the question asks what the user said. */
  readonly askedUserGain: number;
  /** What a user's message counts where the question asks what the assistant said. */
  readonly userWhereAssistantIsAsked: number;
  /** What a message with a standing instruction or preference counts: it matters to more than what it speaks of. */
  readonly standing: number;
  /** A question seldom holds its answer: a short entry of a named speaker that asks counts less than one that tells. */
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
  k1: 0.9,
  b: 0.25,
  wholeShare: 0.6,
  neighborWeights: [0.45, 0.28, 0.15, 0.08],
  answerWeight: 0.6,
  shortLength: SHORT_LENGTH,
  scoreOfPrevious: 0.3,
  scoreOfNext: 0.4,
  firstHits: 40,
  exchangeShare: 0.5,
  userGain: 0.7,
  askedUserGain: 1.5,
  userWhereAssistantIsAsked: 0.77,
  standing: 1.5,
  asking: 0.87,
  namedSpeaker: 1.25,
  namedTime: 1.3,
  statedDate: 0.25,
  rareIdentifier: 20,
};

export function rank(
  query: RecallQuery,
  candidates: readonly IndexedDoc[],
  statistics: ScopeStatistics,
  options: RankOptions = RANKING,
): RankedHit[] {
  const docs = [...candidates].sort(inConversationOrder);
  const { terms } = query;
  const pool = poolFrequencies(docs, terms, options);
  const own = ownScores(docs, pool.frequencies, query, statistics, options);
  const isPair = pairs(docs, options);
  const named = namedSpeaker(query, docs);
  const userFactor = userFactors(query, docs, options);
  const timeTerm = terms.findIndex(({ term }) => term === TIME_TERM);
  const standingTerm = terms.findIndex(({ term }) => term === STANDING_TERM);
  const rare = rareIdentifiers(terms, statistics, options);
  const scored: ScoredHit[] = [];
  const said = new Float64Array(docs.length);
  docs.forEach((doc, index) => {
    const exact = rare.length === 0 ? 0 : rare.filter((t) => doc.frequencies[t]! >= 0.7).length;
    // Of those that hold what is asked for by its name the one that speaks most of it comes first, in any role.
    let score = exact === 0 ? own[index]! + sharedScore(isPair, own, index, options) : own[index]!;
    if (score <= 0) return;
    if (exact === 0 && standingTerm >= 0 && doc.frequencies[standingTerm]! > 0) score *= options.standing;
    if (named !== null && doc.speaker === named) score *= options.namedSpeaker;
    if (doc.asks && isNamed(doc) && doc.length <= options.shortLength) score *= options.asking;
    if (timeTerm >= 0 && doc.frequencies[timeTerm]! > 0) score *= options.namedTime;
    if (query.dates.length > 0) score *= 1 + options.statedDate * dateNearness(doc.at, query);
    said[index] = score;
    if (exact === 0 && doc.speaker === USER) score *= userFactor(doc.threadId);
    scored.push({ doc, score, exact, index });
  });
  scored.sort((a, b) => b.exact - a.exact || b.score - a.score || -inConversationOrder(a.doc, b.doc));
  const ordered = withExchanges(scored, isPair, said, options);
  return inPrecedence(ordered, termSets(isPair, pool, options), options.limit);
}

interface ScoredHit extends RankedHit {
  readonly index: number;
}

/**
 * Who reads on behind the first hits looks for all that was said on the subject, more than for single messages: there an exchange counts
 * as a whole, so that a request stands before others if its answer speaks of what is asked.
 */
function withExchanges(
  scored: readonly ScoredHit[],
  isPair: Uint8Array,
  said: Float64Array,
  { firstHits, exchangeShare }: RankOptions,
): readonly ScoredHit[] {
  if (scored.length <= firstHits) return scored;
  const together = ({ index, score, doc }: ScoredHit): number => {
    const other = doc.speaker === USER ? index + 1 : index - 1;
    // A user's message comes before its answer; of two users' messages neither is the other's.
    const isExchange = isPair[Math.min(index, other)] === EXCHANGE;
    return isExchange ? score * (1 + (exchangeShare * said[other]!) / said[index]!) : score;
  };
  const rest = scored.slice(firstHits);
  const sums = new Float64Array(said.length);
  for (const hit of rest) sums[hit.index] = together(hit);
  rest.sort((a, b) => b.exact - a.exact || (sums[b.index] ?? 0) - (sums[a.index] ?? 0));
  return scored.slice(0, firstHits).concat(rest);
}

/** What each entry scores by the terms that it holds or has gathered. */
function ownScores(
  docs: readonly IndexedDoc[],
  pooled: Float64Array,
  { terms }: RecallQuery,
  statistics: ScopeStatistics,
  { k1, b, wholeShare }: RankOptions,
): Float64Array {
  const width = terms.length;
  const gains = Float64Array.from(terms, (term) => inverseFrequency(term, statistics) * (k1 + 1));
  const averageLength = statistics.totalLength / Math.max(1, statistics.entries) || 1;
  const scores = new Float64Array(docs.length);
  const inPassages = new PassageSums(k1);
  docs.forEach(({ length, passages }, index) => {
    const norm = k1 * (1 - b + (b * length) / averageLength);
    let score = 0;
    for (let at = index * width, t = 0; t < width; at += 1, t += 1) {
      const frequency = pooled[at]!;
      if (frequency <= 0) continue;
      score += (gains[t]! * frequency) / (frequency + norm);
      if (passages !== null) inPassages.add(gains[t]!, frequency, passages[t]!);
    }
    scores[index] = passages === null ? (wholeShare + 1) * score : wholeShare * score + inPassages.takeBest();
  });
  return scores;
}

/** What the passages of one message score by their own words. All have about the same length, so none is set off for it. */
class PassageSums {
  readonly #k1: number;
  readonly #sums = new Float64Array(MOST_PASSAGES);
  #everywhere = 0;

  constructor(k1: number) {
    this.#k1 = k1;
  }

  /** `bits`: in which passages the term stands; none of them: it belongs to all of the message. */
  add(gain: number, frequency: number, bits: number): void {
    // How often it stands in which of several isn't kept: once in each.
    const inOne = (bits & (bits - 1)) === 0 ? frequency : Math.min(frequency, 1);
    const score = (gain * inOne) / (inOne + this.#k1);
    if (bits === 0) this.#everywhere += score;
    for (let rest = bits; rest !== 0; rest &= rest - 1) this.#sums[31 - Math.clz32(rest & -rest)]! += score;
  }

  /** The best passage's; the next message begins anew. */
  takeBest(): number {
    let best = 0;
    for (const sum of this.#sums) if (sum > best) best = sum;
    const score = this.#everywhere + best;
    this.#sums.fill(0);
    this.#everywhere = 0;
    return score;
  }
}

/**
 * A request and its answer speak of the same thing: each of them counts for what the other says, too, also where it holds no word of the
 * question itself ("and how long does that take?").
 */
function sharedScore(
  isPair: Uint8Array,
  own: Float64Array,
  index: number,
  { scoreOfPrevious, scoreOfNext }: RankOptions,
): number {
  const of = (pair: number, neighbor: number): number => ((isPair[pair] ?? 0) > 0 ? (own[neighbor] ?? 0) : 0);
  return scoreOfPrevious * of(index - 1, index - 1) + scoreOfNext * of(index, index + 1);
}

/** For each entry whether it shares its score with the one after it, and whether one of the two is the user's. */
function pairs(docs: readonly IndexedDoc[], { shortLength }: RankOptions): Uint8Array {
  return Uint8Array.from(docs, (before, index) => {
    const after = docs[index + 1];
    if (after === undefined || after.ordinal - before.ordinal !== 1 || !sameSession(before, after)) return 0;
    if (before.speaker === TOOL || after.speaker === TOOL) return 0;
    if (before.length <= shortLength && after.length <= shortLength) return 0;
    return (before.speaker === USER) === (after.speaker === USER) ? 1 : EXCHANGE;
  });
}

const EXCHANGE = 2;

/** What an entry holds, what it takes from its neighbors, and whose it is, for the promise of precedence.ts. */
function termSets(
  isPair: Uint8Array,
  { holds, gathered: all }: Pool,
  { shortLength }: RankOptions,
): (hit: { readonly doc: IndexedDoc; readonly index: number; readonly exact: number }) => TermSets {
  return ({ doc, index, exact }) => {
    const at = index * 2;
    const own = { holds: bitsAt(holds, at), holdsHigh: bitsAt(holds, at + 1) };
    let [low, high] = [bitsAt(all, at), bitsAt(all, at + 1)];
    const gathers = low !== own.holds || high !== own.holdsHigh;
    const isWith = (pair: number): boolean => exact === 0 && (isPair[pair] ?? 0) > 0;
    if (isWith(index - 1)) [low, high] = [low | bitsAt(all, at - 2), high | bitsAt(all, at - 1)];
    if (isWith(index)) [low, high] = [low | bitsAt(all, at + 2), high | bitsAt(all, at + 3)];
    return {
      ...own,
      scoresBy: low,
      scoresByHigh: high,
      gathers,
      isShort: doc.length <= shortLength,
      isUsers: doc.speaker === USER,
    };
  };
}

function bitsAt(bits: Int32Array, at: number): number {
  return bits[at] ?? 0;
}

const USER = "user";
const TOOL = "tool";

/** A person's name stands for the role. */
function isNamed({ speaker }: IndexedDoc): boolean {
  return speaker !== USER && speaker !== TOOL && speaker !== "assistant";
}

/**
 * By thread: in a chat the user's messages are what is looked for; where they are few among calls and results, as in a coding session,
 * they gain little. The candidates, which have their neighbors with them, say which it is.
 */
function userFactors(
  { asks }: RecallQuery,
  docs: readonly IndexedDoc[],
  options: RankOptions,
): (threadId: string) => number {
  if (asks === "assistant") return () => options.userWhereAssistantIsAsked;
  const gain = asks === "user" ? options.askedUserGain : options.userGain;
  const counts = new Map<string, { all: number; users: number }>();
  for (const { threadId, speaker } of docs) {
    const count = counts.get(threadId) ?? { all: 0, users: 0 };
    counts.set(threadId, count);
    count.all += 1;
    if (speaker === USER) count.users += 1;
  }
  return (threadId) => {
    const { all, users } = counts.get(threadId)!;
    return 1 + gain * Math.min(1, (2 * users) / all);
  };
}

function inConversationOrder(a: IndexedDoc, b: IndexedDoc): number {
  if (a.threadId !== b.threadId) return a.threadId < b.threadId ? -1 : 1;
  return a.ordinal - b.ordinal || a.seq - b.seq;
}

/** How much a term counts: its weight in the question, and how rare it is in the scope. */
export function inverseFrequency({ term, weight }: QueryTerm, statistics: ScopeStatistics): number {
  const holders = Math.min(statistics.holding.get(term) ?? 0, statistics.entries);
  return weight * Math.log(1 + (statistics.entries - holders + 0.5) / (holders + 0.5));
}

interface Pool {
  /** A row per entry, a column per term: its own frequencies plus its neighbors' share. */
  readonly frequencies: Float64Array;
  /** Which of the terms that are found by stand in each entry itself, and which it has gathered: two numbers of bits each. */
  readonly holds: Int32Array;
  readonly gathered: Int32Array;
}

function poolFrequencies(docs: readonly IndexedDoc[], terms: readonly QueryTerm[], options: RankOptions): Pool {
  const width = terms.length;
  const shared = terms.filter(({ alone }) => !alone).length;
  const frequencies = new Float64Array(docs.length * width);
  const holds = new Int32Array(docs.length * 2);
  const anyShared = docs.map((doc, index) => {
    let any = false;
    for (let t = 0; t < width; t += 1) {
      const own = doc.frequencies[t]!;
      if (own <= 0) continue;
      frequencies[index * width + t] = own;
      any ||= t < shared;
      if (terms[t]!.weight > 0) holds[index * 2 + (t >> 5)]! |= 1 << t;
    }
    return any;
  });
  const gathered = holds.slice();
  const give = (from: number, to: number, share: number): void => {
    for (let t = 0; t < shared; t += 1) {
      const own = docs[from]!.frequencies[t]!;
      if (own <= 0) continue;
      frequencies[to * width + t]! += share * own;
      if (terms[t]!.weight > 0) gathered[to * 2 + (t >> 5)]! |= 1 << t;
    }
  };
  docs.forEach((doc, index) => {
    if (doc.length > options.shortLength || doc.speaker === TOOL) return;
    for (let next = index + 1; next < docs.length; next += 1) {
      const other = docs[next]!;
      const distance = other.ordinal - doc.ordinal;
      if (distance > options.neighborWeights.length || !sameSession(doc, other)) break;
      // What stands behind a long entry is of another exchange.
      if (other.length > options.shortLength) break;
      if (distance < 1 || other.speaker === TOOL) continue;
      const share = options.neighborWeights[distance - 1]!;
      if (anyShared[index]) give(index, next, share + (distance === 1 && doc.asks ? options.answerWeight : 0));
      if (anyShared[next]) give(next, index, share);
    }
  });
  return { frequencies, holds, gathered };
}

function sameSession(a: IndexedDoc, b: IndexedDoc): boolean {
  return a.session === b.session && a.threadId === b.threadId;
}

/** The one speaker the question names; null when it names none or several. */
function namedSpeaker(query: RecallQuery, docs: readonly IndexedDoc[]): string | null {
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
function dateNearness(at: string, { dates }: RecallQuery): number {
  return dates.reduce((best, date) => Math.max(best, nearness(at, date)), 0);
}

/** Places of the terms that go before everything else where they stand: identifiers that few entries hold. */
function rareIdentifiers(
  terms: readonly QueryTerm[],
  { holding }: ScopeStatistics,
  { rareIdentifier }: RankOptions,
): number[] {
  return terms.flatMap(({ term, exact }, t) => (exact && (holding.get(term) ?? 0) <= rareIdentifier ? [t] : []));
}

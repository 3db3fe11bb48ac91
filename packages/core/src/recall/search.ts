/**
 * One search: read the question, ask the index for statistics and candidates, rank. The index does the reading, everything that
 * decides is here and in the pure functions it calls. Below: how a hit is shown.
 */
import { eachTerm, fold } from "../text/analyze.ts";
import { properNames } from "../text/names.ts";
import { type Closeness, COMPARED, type Propose, withCloseness, withProposals } from "./closeness.ts";
import { analyzeQuery, type QueryTerm, type RecallQuery } from "./entry.ts";
import type { IndexedDoc, RecallIndex, Scope, ScopeStatistics, Seek } from "./port.ts";
import { type Hit, inverseFrequency, RANKING, type RankOptions, rank } from "./rank.ts";
import type { ShownHit } from "./render.ts";
import { TYPED_TERM } from "./standing.ts";
import { splitUnits } from "./units.ts";

export interface SearchOptions {
  /** How many hits at most; 20 unless told. */
  readonly limit?: number | undefined;
  readonly ranking?: RankOptions | undefined;
  /** How many entries that hold a rare term are looked at; 200 unless told, or twice the limit up to 1,000. More find a little more and cost time. */
  readonly matches?: number | undefined;
  /** How near the best hits are in meaning, where an embedder says so: a weak extra term. */
  readonly closeness?: Closeness | undefined;
  /** What is near in meaning, whatever its words: a few of them come after the first ten hits. */
  readonly propose?: Propose | undefined;
  /** `holders`: only entries that hold a word of the question themselves, not those that only stand beside one. */
  readonly only?: "holders" | undefined;
  /** `with`: standing instructions and preferences are looked for as well. */
  readonly standing?: "with" | "without" | undefined;
}

export type SearchResult =
  /** `weights`: how much each term of the question counts in this scope, to show the hits by. */
  (
    | { readonly kind: "found"; readonly hits: readonly Hit[]; readonly weights: ReadonlyMap<string, number> }
    /** `no-terms`: the question is empty or holds only words that stand in every text. */
    | { readonly kind: "nothing"; readonly reason: "no-terms" | "no-match" }
  ) & {
    /** The newest entries with standing instructions or preferences that a person typed there, whatever was asked (standing.ts); where they are asked for. */
    readonly standing?: readonly IndexedDoc[];
  };

export async function search(
  index: RecallIndex,
  scope: Scope,
  question: string,
  options: SearchOptions = {},
): Promise<SearchResult> {
  const query = analyzeQuery(question);
  if (query.terms.length === 0) return { kind: "nothing", reason: "no-terms" };
  const terms = query.terms.map(({ term }) => term);
  const statistics = await index.statistics(scope, terms);
  const standing = options.standing === "with" && {
    standing: await newestStanding(index, scope, terms, statistics),
  };
  const limit = Math.max(1, options.limit ?? 20);
  const byWords = await rankedByWords(index, scope, { query, statistics, limit, options });
  const { propose } = options;
  const all = propose === undefined ? byWords : withProposals(byWords, await propose());
  const hits = all.slice(0, limit).map(({ doc, score }) => ({ doc, score }));
  if (hits.length === 0) return { kind: "nothing", reason: "no-match", ...standing };
  const weights = new Map(query.terms.map((term) => [term.term, inverseFrequency(term, statistics)]));
  return { kind: "found", hits, weights, ...standing };
}

interface WordSearch {
  readonly query: RecallQuery;
  readonly statistics: ScopeStatistics;
  readonly limit: number;
  readonly options: SearchOptions;
}

async function rankedByWords(
  index: RecallIndex,
  scope: Scope,
  { query, statistics, limit, options }: WordSearch,
): Promise<readonly Hit[]> {
  const { closeness, only, matches = matchesFor(limit), ranking = RANKING } = options;
  const seeks = planSeeks(query.terms, statistics, matches);
  if (seeks.length === 0) return [];
  const terms = query.terms.map(({ term }) => term);
  const candidates = await index.candidates(scope, { terms, seeks, reach: ranking.neighborWeights.length });
  const most = closeness === undefined ? limit : Math.max(limit, COMPARED);
  const all = rank(query, candidates, statistics, only === "holders" ? ranking : { ...ranking, limit: most });
  // Before they are cut: what stands beside many holders could fill all the places.
  const ranked = (only === "holders" ? all.filter(({ doc }) => holdsAny(doc, query.terms)) : all).slice(0, most);
  const compared = ranked.slice(0, COMPARED).map(({ doc }) => doc);
  return closeness === undefined ? ranked : withCloseness(ranked, await closeness(compared));
}

function holdsAny({ frequencies }: IndexedDoc, terms: readonly QueryTerm[]): boolean {
  return terms.some(({ weight }, t) => weight > 0 && frequencies[t]! > 0);
}

const MOST_STANDING = 40;

async function newestStanding(
  index: RecallIndex,
  scope: Scope,
  terms: readonly string[],
  { holding }: ScopeStatistics,
): Promise<readonly IndexedDoc[]> {
  if ((holding.get(TYPED_TERM) ?? 0) === 0) return [];
  const seeks = [{ all: [TYPED_TERM], limit: MOST_STANDING }];
  const docs = await index.candidates(scope, { terms, seeks, reach: 0 });
  return [...docs].sort((a, b) => (a.at === b.at ? b.seq - a.seq : a.at > b.at ? -1 : 1));
}

/** Terms are sought alone while the entries that hold them add up to this; who asks for many hits has more looked at, within bounds. */
const MATCHES = 200;
const MOST_MATCHES = 1_000;

function matchesFor(limit: number): number {
  return Math.min(MOST_MATCHES, Math.max(MATCHES, 2 * limit));
}

/** The newest of those that hold two common terms, and how many such pairs. */
const PAIR_MATCHES = 40;
const PAIRS = 4;

/**
 * Which entries a store has to fetch: all that hold a rare term; of common terms only those that hold a second one too.
 * The amount fetched is bounded, whatever the size of the scope, and the choice is made here, so every store fetches the same.
 */
function planSeeks(terms: readonly QueryTerm[], statistics: ScopeStatistics, most: number): Seek[] {
  const held = (term: string): number => statistics.holding.get(term) ?? 0;
  const rarestFirst = terms
    .filter(({ term, weight }) => weight > 0 && held(term) > 0)
    .map(({ term }) => term)
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

// What is worth asking for next after a search: names that stand in its hits and not in the question, and the days of
// hits that were not shown. Read from the hits, not by a model; the caller decides whether to search again. Pure.

/** One short line, or nothing. `hits` are best first, `shown` those of them that the answer shows. */
export function followUps(question: string, hits: readonly ShownHit[], shown: readonly ShownHit[]): string {
  const names = namesIn(question, hits).slice(0, MOST);
  const days = new Set(shown.map(dayOf));
  const others = [...new Set(hits.map(dayOf))].filter((day) => !days.has(day)).slice(0, MOST);
  const parts = [
    ...(names.length > 0 ? [`also named: ${names.join(", ")}`] : []),
    ...(others.length > 0 ? [`more from ${others.join(", ")}`] : []),
  ];
  return parts.length === 0 ? "" : `(${parts.join("; ")})`;
}

const MOST = 4;
const MOST_NAME = 40;
const MOST_READ = 2_000;

/** Those that most hits name first; no word of the question and no speaker, nor a short form of one. */
function namesIn(question: string, hits: readonly ShownHit[]): string[] {
  const asked = new Set(wordsOf(question));
  const speakers = [...new Set(hits.flatMap(({ speaker }) => wordsOf(speaker)))];
  const counts = new Map<string, number>();
  for (const { text } of hits) {
    for (const name of new Set(properNames(text.slice(0, MOST_READ)))) {
      if (!/^\p{Lu}/u.test(name) || name.length > MOST_NAME) continue;
      const isOld = wordsOf(name).some(
        (word) => asked.has(word) || speakers.some((speaker) => speaker.startsWith(word)),
      );
      if (!isOld) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return [...counts].sort(([a, times], [b, others]) => others - times || (a < b ? -1 : 1)).map(([name]) => name);
}

function wordsOf(text: string): string[] {
  return fold(text)
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== "");
}

function dayOf({ at }: ShownHit): string {
  return at.slice(0, 10);
}

// Shows a hit: a short message whole, of a long one the best window, cut at lines or sentences, and where in it the
// words stand that matched. Only ever cuts; the words are the message's own.

export interface SnippetOptions {
  /** Longest text shown. */
  readonly characters?: number;
  /** How much each term counts for the choice of the window, as a search says it; without it, by the question alone. */
  readonly weights?: ReadonlyMap<string, number> | undefined;
}

export interface Snippet {
  readonly text: string;
  /** Start and end of each word that matched, as offsets into `text`, in order. */
  readonly marks: readonly (readonly [start: number, end: number])[];
}

/** Many texts are shown for one question, so the question is read once. Each may have a length of its own. */
export function createSnippets(
  question: string,
  options: SnippetOptions = {},
): (text: string, characters?: number) => Snippet {
  const own = (): Map<string, number> =>
    new Map(analyzeQuery(question).terms.map(({ term, weight }) => [term, weight]));
  const weights = options.weights ?? own();
  return (text, characters = options.characters ?? 480) => {
    const limit = Math.max(40, characters);
    const matches = matchesIn(text, weights);
    const [from, to] = text.length <= limit ? [0, text.length] : bestWindow(text, matches, limit);
    return cutOut(text, from, to, matches);
  };
}

interface Match {
  readonly at: number;
  readonly end: number;
  readonly term: string;
  readonly weight: number;
}

function matchesIn(text: string, weights: ReadonlyMap<string, number>): Match[] {
  const matches: Match[] = [];
  eachTerm(text, (term, _, __, at, end) => {
    const weight = weights.get(term);
    if (weight !== undefined) matches.push({ at, end, term, weight });
  });
  return matches;
}

/** The text from `from` to `to` without white space around it, with dots where something is left out. */
function cutOut(text: string, from: number, to: number, matches: readonly Match[]): Snippet {
  const body = text.slice(from, to);
  const lead = from > 0 ? "… " : "";
  const shift = lead.length - from - (body.length - body.trimStart().length);
  const marks: [number, number][] = [];
  let last = from;
  for (const { at, end } of matches) {
    const start = Math.max(last, at);
    if (at < from || end > to || end <= start) continue;
    marks.push([start + shift, end + shift]);
    last = end;
  }
  return { text: `${lead}${body.trim()}${to < text.length ? " …" : ""}`, marks };
}

/** The run of whole units that holds the most different asked words; the first of equals. */
function bestWindow(text: string, matches: readonly Match[], limit: number): [number, number] {
  const units = splitUnits(text, Math.floor(limit / 3));
  let best: [number, number] = [0, units[0]!.end];
  let bestScore = -1;
  let next = 0;
  for (let first = 0; first < units.length; first += 1) {
    const from = units[first]!.at;
    let last = first;
    while (last + 1 < units.length && units[last + 1]!.end - from <= limit) last += 1;
    const to = units[last]!.end;
    while (next < matches.length && matches[next]!.at < from) next += 1;
    const seen = new Map<string, number>();
    for (let i = next; i < matches.length && matches[i]!.end <= to; i += 1)
      seen.set(matches[i]!.term, matches[i]!.weight);
    let score = 0;
    for (const weight of seen.values()) score += weight;
    if (score > bestScore) {
      bestScore = score;
      best = [from, to];
    }
  }
  return best;
}

/**
 * Shows a hit: a short message whole, of a long one the best window, cut at lines or sentences, and where in it the words
 * stand that matched. Only ever cuts; the words are the message's own.
 */
import { eachTerm } from "../text/analyze.ts";
import { analyzeQuery } from "./query.ts";
import { splitUnits } from "./units.ts";

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

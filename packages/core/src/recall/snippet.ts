/**
 * Shows a hit: a short message whole, of a long one the best window, cut at lines or sentences, with the words that matched
 * marked. Only ever cuts and marks; the words are the message's own.
 */
import { analyze } from "../text/analyze.ts";
import { analyzeQuery } from "./query.ts";

export interface SnippetOptions {
  /** Longest text shown, without marks. */
  readonly characters?: number;
  /** Put before and after each matching word; empty strings for none. */
  readonly marks?: readonly [string, string];
}

export function snippet(text: string, question: string, options: SnippetOptions = {}): string {
  const limit = Math.max(40, options.characters ?? 480);
  const matches = findMatches(text, question);
  const [from, to] = text.length <= limit ? [0, text.length] : bestWindow(text, matches, limit);
  const inside = matches.filter(({ at, end }) => at >= from && end <= to);
  const body = mark(text, from, to, inside, options.marks ?? ["**", "**"]);
  return `${from > 0 ? "… " : ""}${body.trim()}${to < text.length ? " …" : ""}`;
}

interface Match {
  readonly at: number;
  readonly end: number;
  readonly term: string;
  readonly weight: number;
}

function findMatches(text: string, question: string): Match[] {
  if (asked?.question !== question) {
    const terms = analyzeQuery(question).terms.map(({ term, weight }) => [term, weight] as const);
    asked = { question, wanted: new Map(terms) };
  }
  const { wanted } = asked;
  const matches: Match[] = [];
  for (const { term, at, end } of analyze(text)) {
    const weight = wanted.get(term);
    if (weight !== undefined) matches.push({ at, end, term, weight });
  }
  return matches;
}

/** A pure function's memo: many texts are shown for one question. */
let asked: { readonly question: string; readonly wanted: ReadonlyMap<string, number> } | undefined;

/** The stretch of whole units that holds the most different asked words; the first of equals. */
function bestWindow(text: string, matches: readonly Match[], limit: number): [number, number] {
  const units = splitUnits(text, limit);
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

/** Lines and sentences; one that is longer than the window falls apart at spaces, or anywhere if it has none. */
function splitUnits(text: string, limit: number): { at: number; end: number }[] {
  const units: { at: number; end: number }[] = [];
  const longest = Math.floor(limit / 3);
  let at = 0;
  for (const found of text.matchAll(BORDER)) {
    const end = found.index + found[0].length;
    splitLong(text, at, end, longest, units);
    at = end;
  }
  splitLong(text, at, text.length, longest, units);
  return units;
}

const BORDER = /\n+|(?<![.!?\u3002\uff01\uff1f])[.!?\u3002\uff01\uff1f]+["')\]]*\s+|[\u3002\uff01\uff1f]/g;

function splitLong(
  text: string,
  from: number,
  to: number,
  longest: number,
  units: { at: number; end: number }[],
): void {
  let at = from;
  while (to - at > longest) {
    const space = text.lastIndexOf(" ", at + longest);
    let end = space > at ? space + 1 : at + longest;
    if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
    units.push({ at, end });
    at = end;
  }
  if (to > at) units.push({ at, end: to });
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function mark(
  text: string,
  from: number,
  to: number,
  matches: readonly Match[],
  marks: readonly [string, string],
): string {
  let out = "";
  let at = from;
  for (const match of matches) {
    const start = Math.max(at, match.at);
    if (match.end <= start) continue;
    out += text.slice(at, start) + marks[0] + text.slice(start, match.end) + marks[1];
    at = match.end;
  }
  return out + text.slice(at, to);
}

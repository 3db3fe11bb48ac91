/** A thread's map as text, within a token budget: whole if it fits, else the stretches that matter most to a question. Pure. */
import type { MapLine } from "./thread-map.ts";

export interface MapTextOptions {
  readonly tokens: number;
  readonly count: (text: string) => number;
  /** By seq, how well a message answers the question. Without it the newest stretches are shown. */
  readonly scores?: ReadonlyMap<number, number>;
}

export interface MapText {
  readonly text: string;
  readonly tokens: number;
  /** Those that are in the text, in order of time. */
  readonly shown: readonly MapLine[];
  /** How many stretches the thread has. */
  readonly of: number;
}

export function mapText(lines: readonly MapLine[], { tokens, count, scores }: MapTextOptions): MapText {
  const ranked = lines
    .map((line, index) => ({ line, index, score: scores === undefined ? index : scoreOf(line, scores) }))
    .sort((a, b) => b.score - a.score || b.index - a.index);
  const chosen: typeof ranked = [];
  let spent = 0;
  for (const one of ranked) {
    const cost = count(`${mapLineText(one.line)}\n`);
    if (spent + cost > tokens) continue;
    spent += cost;
    chosen.push(one);
  }
  const shown = chosen.sort((a, b) => a.index - b.index).map(({ line }) => line);
  const text = shown.map((line) => `${mapLineText(line)}\n`).join("");
  return { text, tokens: count(text), shown, of: lines.length };
}

export function mapLineText({ from, to, at, label, files, result }: MapLine): string {
  const range = from === to ? `${from}` : `${from}-${to}`;
  const work = files.length === 0 ? "" : ` [${files.join(", ")}]`;
  return `${range} ${at.slice(0, 10)}: ${label}${work}${result === "" ? "" : ` -> ${result}`}`;
}

/** By its best message: by the sum of all of them long stretches would come first. */
function scoreOf({ from, to }: MapLine, scores: ReadonlyMap<number, number>): number {
  let best = 0;
  for (let seq = from; seq <= to; seq += 1) best = Math.max(best, scores.get(seq) ?? 0);
  return best;
}

const COURSE =
  /\b(?:(?:in|the|what) (?:which |what )?(?:chronological )?order\b|order in which|sequence of|chronolog\w*|timeline|step by step|summar(?:y|ies|i[sz]e\w*)|overview|recap|walk me through|progress(?:ed|ion)\b|evol(?:ve|ved|ution)|everything (?:about|on|we|i|you)|all (?:that )?(?:we|i|you) (?:said|discussed|talked|decided)|what (?:has |have )?changed|how did .{0,80}\b(?:change|develop|progress))/i;

/** Whether a question asks for an order, a course of events, a summary or all there is about something: no single message answers it. */
export function asksForCourse(question: string): boolean {
  return COURSE.test(question.slice(0, 2_000));
}

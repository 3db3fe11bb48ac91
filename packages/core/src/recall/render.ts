/**
 * Hits as text for a prompt or a person, within a token budget: the best are chosen first, then shown as the conversation
 * ran, with the date once per session. A hit that doesn't fit is left out and a smaller one after it may still come in.
 */
import { analyze } from "../text/analyze.ts";
import { flatten } from "../text/names.ts";
import { analyzeQuery } from "./entry.ts";
import { createSnippets, type SearchOptions, type Snippet } from "./search.ts";
import { standingSentences } from "./standing.ts";
import type { MapLine } from "./thread-map.ts";

export interface ShownHit {
  readonly threadId: string;
  readonly session: number;
  readonly seq: number;
  readonly at: string;
  readonly speaker: string;
  readonly text: string;
}

export interface RenderOptions {
  readonly tokens: number;
  readonly count: (text: string) => number;
  /** To choose the window of a long message; without it such a message shows its beginning. */
  readonly question?: string;
  /** Longest text of one hit in characters; without it the best hits have more room than those after them. */
  readonly characters?: number;
  /** As the search says it: how much each term counts where a window is chosen. */
  readonly weights?: ReadonlyMap<string, number> | undefined;
  /** Messages with standing instructions or preferences: those sentences come first, within a tenth of the tokens. */
  readonly standing?: readonly ShownHit[] | undefined;
  /** What the reader has before him already: excerpts and sentences that stand in it word for word are left out. */
  readonly already?: string | undefined;
}

export interface Rendered {
  readonly text: string;
  readonly tokens: number;
  /** Those that are in the text, in its order; of `standing` those first that aren't among the hits. */
  readonly shown: readonly ShownHit[];
}

/** `hits` are best first. */
export function renderHits(hits: readonly ShownHit[], options: RenderOptions): Rendered {
  const chosen: RenderedLine[] = [];
  const sessions = new Set<string>();
  const several = hits.some(({ threadId }) => threadId !== hits[0]!.threadId);
  const { question = "", weights } = options;
  const snippetOf = createSnippets(question, { weights });
  const lane = layLane(options, weights ?? new Map(), hits[0]?.threadId);
  let spent = lane.tokens;
  for (const [rank, hit] of hits.entries()) {
    const excerpt = shorten(hit.text, options.characters ?? roomAt(rank), snippetOf);
    if (isIn(options.already, excerpt) || isIn(lane.text, excerpt)) continue;
    const line = `${hit.seq} ${flatten(hit.speaker)}: ${excerpt}\n`;
    const heading = sessions.has(sessionOf(hit)) ? 0 : options.count(headingOf(hit, several));
    const cost = options.count(line) + heading;
    if (spent + cost > options.tokens) continue;
    spent += cost;
    sessions.add(sessionOf(hit));
    chosen.push({ hit, line });
  }
  const rendered = layOut(chosen, several, { ...options, tokens: options.tokens - lane.tokens });
  if (lane.text === "") return rendered;
  const refs = new Set(rendered.shown);
  return {
    text: `${lane.text}${rendered.text}`,
    tokens: lane.tokens + rendered.tokens,
    shown: [...lane.shown.filter((hit) => !refs.has(hit)), ...rendered.shown],
  };
}

const LANE_HEADING = "Standing instructions and preferences:\n";
/** The share of the tokens that they may take, and what they may have of a small budget. */
const LANE_SHARE = 0.1;
const LANE_LEAST = 80;

/** Instructions before preferences, those that speak of what is asked first, then the newest. */
function layLane(
  { standing = [], tokens, count, already = "" }: RenderOptions,
  weights: ReadonlyMap<string, number>,
  threadId = standing[0]?.threadId,
): { text: string; tokens: number; shown: ShownHit[] } {
  const several = standing.some((hit) => hit.threadId !== threadId);
  const room = Math.min(tokens, Math.max(LANE_LEAST, LANE_SHARE * tokens));
  const heading = count(LANE_HEADING);
  let [text, spent] = ["", heading];
  const shown = new Set<ShownHit>();
  for (const { hit, sentence } of standingLines(standing, weights)) {
    const place = several ? `${hit.threadId} ${hit.seq}` : `${hit.seq}`;
    const line = `${place} ${flatten(hit.speaker)}: ${flatten(sentence)}\n`;
    const cost = count(line);
    if (text.includes(sentence) || already.includes(flatten(sentence)) || spent + cost > room) continue;
    spent += cost;
    text += line;
    shown.add(hit);
  }
  return text === "" ? { text, tokens: 0, shown: [] } : { text: LANE_HEADING + text, tokens: spent, shown: [...shown] };
}

interface StandingLine {
  readonly hit: ShownHit;
  readonly sentence: string;
}

function standingLines(standing: readonly ShownHit[], weights: ReadonlyMap<string, number>): StandingLine[] {
  const lines = standing.flatMap((hit) =>
    standingSentences(hit.text).map(({ kind, text }) => {
      const terms = new Set(analyze(text).map(({ term }) => term));
      const shared = [...terms].reduce((sum, term) => sum + (weights.get(term) ?? 0), 0);
      return { hit, sentence: text, kind, shared };
    }),
  );
  return lines.sort((a, b) => Number(a.kind === "preference") - Number(b.kind === "preference") || b.shared - a.shared);
}

interface RenderedLine {
  readonly hit: ShownHit;
  readonly line: string;
}

/** Lines were counted one by one; should the whole count more, the last chosen go again. */
function layOut(chosen: readonly RenderedLine[], several: boolean, options: RenderOptions): Rendered {
  for (let length = chosen.length; length > 0; length -= 1) {
    const lines = chosen.slice(0, length).sort((a, b) => inOrder(a.hit, b.hit));
    let text = "";
    let session = "";
    for (const { hit, line } of lines) {
      if (sessionOf(hit) !== session) text += headingOf(hit, several);
      session = sessionOf(hit);
      text += line;
    }
    const tokens = options.count(text);
    if (tokens <= options.tokens) return { text, tokens, shown: lines.map(({ hit }) => hit) };
  }
  return { text: "", tokens: 0, shown: [] };
}

/** In characters. Readers find more in many short windows than in few long ones; only the best hits are worth more. */
const ROOM: readonly (readonly [ranks: number, characters: number])[] = [
  [3, 540],
  [10, 300],
  [Number.POSITIVE_INFINITY, 180],
];
/** A message that is only a little longer is shown whole. */
const WHOLE = 1.2;

function roomAt(rank: number): number {
  return ROOM.find(([ranks]) => rank < ranks)![1];
}

function shorten(text: string, characters: number, snippetOf: (text: string, characters: number) => Snippet): string {
  const excerpt = text.length <= WHOLE * characters ? text : snippetOf(text, characters).text;
  // Blanks may be the columns of a table; anything else that could begin a line would look like one of ours.
  return excerpt.trim().replace(/[\s\p{Cc}]+/gu, (blanks) => (/^\p{Zs}+$/u.test(blanks) ? blanks : " "));
}

/** Whether an excerpt is there already, apart from the dots of what it leaves out. */
function isIn(already: string | undefined, excerpt: string): boolean {
  return already?.includes(excerpt.replace(/^\u2026 | \u2026$/g, "")) ?? false;
}

function sessionOf(hit: ShownHit): string {
  return `${hit.threadId} ${hit.session}`;
}

function headingOf(hit: ShownHit, severalThreads: boolean): string {
  return `${severalThreads ? `${hit.threadId}, ` : ""}${hit.at.slice(0, 10)}\n`;
}

function inOrder(a: ShownHit, b: ShownHit): number {
  if (a.threadId !== b.threadId) return a.threadId < b.threadId ? -1 : 1;
  return a.session - b.session || a.seq - b.seq;
}

// A thread's map as text, within a token budget: whole if it fits, else the stretches that matter most to a question.
// Pure.

/**
 * The search by which a question chooses stretches. A course of events has places all over a thread, so it looks at many more messages
 * than a search for a fact; and only at those that hold a word of the question: what stands beside them is in their stretch anyway.
 */
export const COURSE_SEARCH = { limit: 2_000, matches: 1_000, only: "holders" } as const satisfies SearchOptions;

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

// Whether a text holds an identifier that a question quotes whole. Pure.

export function holdsQuoted(question: string): (text: string) => boolean {
  const quoted = new Set(analyzeQuery(question).terms.flatMap(({ term, exact }) => (exact ? [term] : [])));
  return (text) => quoted.size > 0 && analyze(text).some(({ term }) => quoted.has(term));
}

/**
 * Hits as text for a prompt or a person, within a token budget: the best are chosen first, then shown as the conversation
 * ran, with the date once per session. A hit that doesn't fit is left out and a smaller one after it may still come in.
 */
import { createSnippets, type Snippet } from "./snippet.ts";

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
  /** Longest text of one hit in characters. */
  readonly characters?: number;
}

export interface Rendered {
  readonly text: string;
  readonly tokens: number;
  /** Those that are in the text, in its order. */
  readonly shown: readonly ShownHit[];
}

/** `hits` are best first. */
export function renderHits(hits: readonly ShownHit[], options: RenderOptions): Rendered {
  const chosen: Line[] = [];
  const sessions = new Set<string>();
  const several = hits.some(({ threadId }) => threadId !== hits[0]!.threadId);
  const { characters = 1_200, question = "" } = options;
  const snippetOf = createSnippets(question, { characters });
  let spent = 0;
  for (const hit of hits) {
    const line = `${hit.seq} ${hit.speaker}: ${shorten(hit.text, characters, snippetOf)}\n`;
    const heading = sessions.has(sessionOf(hit)) ? 0 : options.count(headingOf(hit, several));
    const cost = options.count(line) + heading;
    if (spent + cost > options.tokens) continue;
    spent += cost;
    sessions.add(sessionOf(hit));
    chosen.push({ hit, line });
  }
  return layOut(chosen, several, options);
}

interface Line {
  readonly hit: ShownHit;
  readonly line: string;
}

/** Lines were counted one by one; should the whole count more, the last chosen go again. */
function layOut(chosen: readonly Line[], several: boolean, options: RenderOptions): Rendered {
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

function shorten(text: string, characters: number, snippetOf: (text: string) => Snippet): string {
  const excerpt = text.length <= characters ? text : snippetOf(text).text;
  return excerpt.trim().replace(/\s+/g, (blanks) => (blanks.includes("\n") ? " " : blanks));
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

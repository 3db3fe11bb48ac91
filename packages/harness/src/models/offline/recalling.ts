/** Questions, in any language: asked of `recall`, and answered by quoting what it found, with its number. */
import { analyze, oneLine } from "@palimpsest/core/internal/text";
import type { PlayedAnswer } from "../played-answer.ts";
import type { Situation, ToolAnswer } from "./situation.ts";
import { spokenBefore } from "./transcript.ts";

/** A call of `recall` when something is asked and the tool is there; null when it isn't. */
export function askRecall({ question, tools }: Situation): PlayedAnswer | null {
  if (!tools.has("recall") || !asks(question)) return null;
  // No word to search for: the beginning is read.
  if (asksForBeginning(question) && tools.has("recall_read"))
    return { calls: [{ name: "recall_read", input: { from: 1, to: 20 } }] };
  return { calls: [{ name: "recall", input: { query: queryOf(question) } }] };
}

/** Without the tool: what the prompt itself still holds; null when that says nothing about it. */
export function quoteEarlier({ question, earlier }: Situation): string | null {
  if (!asks(question)) return null;
  const hits = spokenBefore(earlier).map(({ seq, role, text }) => ({ seq, speaker: role, text }));
  const [best] = matching(hits, question);
  if (best === undefined) return null;
  return `Earlier the ${best.speaker} said: "${oneLine(best.text, 400)}"`;
}

const ABOUT_THE_PAST =
  /\b(?:earlier|before|previous(?:ly)?|remember|recall|said|told|mention(?:ed)?|talked|discussed|decided|agreed|at the (?:very )?(?:beginning|start)|first (?:thing|message|time)|last time|again|did (?:i|we|you)|was (?:my|our|the)|were (?:my|our|the))\b/i;
const ABOUT_OURSELVES = /\b(?:my|our|me|us|i|we)\b/i;
/** The question marks of all scripts, or a word that asks. */
const ASKS =
  /[?\uff1f\u061f\u055e\u037e\u1367\u2e2e\ua60f]|^\s*(?:what|which|who|when|where|why|how|did|do|does|is|was|were|tell me|remind me|find|look up)\b/i;

function asks(question: string): boolean {
  return ASKS.test(question);
}

/** Only then is it an answer that nothing was found. */
function looksBack(question: string): boolean {
  return asks(question) && (ABOUT_THE_PAST.test(question) || ABOUT_OURSELVES.test(question));
}

/** "What did I say first?", and no word about what. */
function asksForBeginning(question: string): boolean {
  return /\b(?:first|beginning|start)\b/i.test(question) && carrying(question).length === 0;
}

const STOP =
  /^(?:what|which|who|whom|when|where|why|how|did|do|does|is|was|were|are|am|the|a|an|i|we|you|me|us|my|our|your|to|of|in|at|on|for|about|that|this|it|tell|told|remind|remember|recall|said|say|saying|message|messages|thing|words|earlier|before|previously|again|please|can|could|have|had|has|very|beginning|start|first|last|time|mention|mentioned)$/i;

/** The words that carry the question; all of it when nothing is left. */
function queryOf(question: string): string {
  const terms = carrying(question);
  return (terms.length > 0 ? terms : wordsOf(question)).slice(0, 24).join(" ") || question.trim().slice(0, 200);
}

function carrying(question: string): string[] {
  return wordsOf(question)
    .map((word) => word.replace(/^[.\-/]+|[.\-/]+$/g, ""))
    .filter((word) => word && !STOP.test(word));
}

function wordsOf(question: string): string[] {
  return question.match(/[\p{L}\p{N}_.\-/]+/gu) ?? [];
}

/** Null when nothing was found and the question may have been about something else. */
export function quoteHits(answer: ToolAnswer, { question, remembered }: Situation): string | null {
  const hits = answer.isError ? [] : hitsIn(answer.text).filter(({ text }) => text.trim() !== question.trim());
  const [best, ...others] = matching(hits, question);
  if (best === undefined) return quoteMemory(remembered, question) ?? nothingFound(question);
  const more = others.slice(0, 2).map(({ seq }) => `#${seq}`);
  const also = more.length === 0 ? "" : ` See also ${more.join(" and ")}.`;
  return `Message #${best.seq}${best.speaker === "" ? "" : ` (${best.speaker})`} says: "${oneLine(best.text, 400)}"${also}`;
}

/** The first words of a person in what was read; null when there are none. */
export function quoteBeginning(answer: ToolAnswer): string | null {
  const first = answer.isError ? undefined : hitsIn(answer.text).find(({ speaker }) => speaker === "user");
  return first === undefined ? null : `Message #${first.seq} (user) says: "${oneLine(first.text, 400)}"`;
}

function nothingFound(question: string): string | null {
  return looksBack(question) ? `I found nothing said earlier about "${queryOf(question)}".` : null;
}

/** The line of memory that shares most words with the question; null when none shares any. */
function quoteMemory(remembered: readonly string[], question: string): string | null {
  const lines = remembered.map((text) => ({ seq: 0, speaker: "", text }));
  const [best] = matching(lines, question);
  return best === undefined ? null : `I remember: "${oneLine(best.text, 400)}"`;
}

interface Hit {
  readonly seq: number;
  readonly speaker: string;
  readonly text: string;
}

/** JSON with hits, or lines like `12 user: ...`; what follows such a line belongs to it. */
function hitsIn(text: string): Hit[] {
  const parsed = parse(text);
  if (parsed !== null) return parsed;
  const hits: { seq: number; speaker: string; text: string }[] = [];
  for (const line of text.split("\n")) {
    const head = /^\[?#?(\d+)\]?[ :]+([\p{L}_-]{1,40}):\s?(.*)$/u.exec(line);
    if (head !== null) hits.push({ seq: Number(head[1]), speaker: head[2]!, text: head[3]! });
    else if (line.trim() !== "" && !/^\S*\d{4}-\d\d-\d\d$/.test(line.trim())) {
      const last = hits.at(-1);
      if (last !== undefined) last.text += ` ${line.trim()}`;
    }
  }
  return hits;
}

function parse(text: string): Hit[] | null {
  try {
    const value = JSON.parse(text) as { hits?: unknown } | unknown[] | null;
    const list = Array.isArray(value) ? value : value?.hits;
    if (!Array.isArray(list)) return null;
    return list.flatMap((hit: Record<string, unknown> | null) => {
      const words = hit?.["text"] ?? hit?.["snippet"];
      const speaker = String(hit?.["speaker"] ?? hit?.["role"] ?? "");
      return typeof words === "string" ? [{ seq: Number(hit?.["seq"] ?? 0), speaker, text: words }] : [];
    });
  } catch {
    return null;
  }
}

/**
 * Those that share a word with the question, most words first; a message that tells before one that asks, a person's
 * before the echo of it; then the order found.
 */
function matching(hits: readonly Hit[], question: string): Hit[] {
  const words = termsOf(queryOf(question));
  return hits
    .map((hit) => ({ hit, shared: [...termsOf(hit.text)].filter((term) => words.has(term)).length }))
    .filter(({ shared }) => shared > 0 || words.size === 0)
    .map(({ hit, shared }) => ({
      hit,
      score: shared - (asks(hit.text) ? 0.5 : 0) - (hit.speaker === "user" ? 0 : ECHO.test(hit.text) ? 1.5 : 0.25),
    }))
    .toSorted((a, b) => b.score - a.score)
    .map(({ hit }) => hit);
}

/** This model's own answers that only repeat somebody's words, and share those of their frame with any question. */
const ECHO = /^\[offline\] (?:You said|Message #)/;

/** As the index has them, so that "live" finds "lives", in any script. */
function termsOf(text: string): Set<string> {
  return new Set(analyze(text).map(({ term }) => term));
}

/** Questions, in any language: asked of `recall`, and answered by quoting what it found, with its number. */

import { aiSdkShape } from "@palimpsest/core/internal/message";
import { createSnippets } from "@palimpsest/core/internal/recall";
import { extractSummary, SECTIONS } from "@palimpsest/core/internal/summary";
import { analyze, clip, oneLine } from "@palimpsest/core/internal/text";
import type { CountText } from "@palimpsest/core/internal/tokens";
import type { PlayedAnswer } from "./played-answer.ts";
import {
  factsIn,
  forgottenIn,
  type OfferedTool,
  type Situation,
  type Spoken,
  spokenBefore,
  spokenIn,
  type ToolAnswer,
} from "./situation.ts";

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
  return `Earlier the ${best.speaker} said: "${quoteFor(question, best.text)}"`;
}

/** Of a long text the part that holds most of the words asked for. */
function quoteFor(question: string, text: string): string {
  return oneLine(createSnippets(queryOf(question), { characters: 360 })(text).text, 400);
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
  return `Message #${best.seq}${best.speaker === "" ? "" : ` (${best.speaker})`} says: "${quoteFor(question, best.text)}"${also}`;
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

interface RecalledHit {
  readonly seq: number;
  readonly speaker: string;
  readonly text: string;
}

/** JSON with hits, or lines like `12 user: ...`; what follows such a line belongs to it. */
function hitsIn(text: string): RecalledHit[] {
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

function parse(text: string): RecalledHit[] | null {
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
function matching(hits: readonly RecalledHit[], question: string): RecalledHit[] {
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

/*
 * Answers to the prompts the runtime itself sends: a patch or a prose summary of a transcript, and facts for memory. By
 * extraction, with core's own summarizer, so that the answers are as good as they get without a model.
 */

/** The answer to one of our own prompts; null when this is a conversation. */
export function keepRecord(situation: Situation, count: CountText): string | null {
  const { question, earlier } = situation;
  const spoken = spokenIn(question);
  if (ASKS_FOR_FACTS.test(question)) return factsAnswer(spoken ?? spokenBefore(earlier), question);
  if (asksForPatch(question)) return JSON.stringify(patchOf(spoken ?? spokenBefore(earlier), count));
  return spoken === null ? null : prose(spoken, count);
}

function asksForPatch(question: string): boolean {
  const start = question.indexOf("Answer with JSON only");
  return start !== -1 && question.includes('{"add": {', start);
}

const ASKS_FOR_FACTS = /"(?:newFacts|factsToRemove|additions)"/;

const MAX_TOKENS = 1_200;

function stateOf(spoken: readonly Spoken[], count: CountText) {
  const entries = spoken.map(({ seq, role, text }) => ({ seq, message: aiSdkShape.turn(role, text) }));
  return extractSummary(null, entries, aiSdkShape, { maxTokens: MAX_TOKENS, count });
}

function patchOf(spoken: readonly Spoken[], count: CountText): unknown {
  const { sections } = stateOf(spoken, count);
  const add = SECTIONS.flatMap((section) => {
    const items = sections[section].map(({ text, seqs, why }) => ({ text, seqs, why }));
    return items.length === 0 ? [] : [[section, items] as const];
  });
  return { add: Object.fromEntries(add) };
}

function prose(spoken: readonly Spoken[], count: CountText): string {
  const { sections } = stateOf(spoken, count);
  const lines = SECTIONS.flatMap((section) => sections[section].map(({ text }) => `- ${text}`));
  return lines.length === 0 ? "Nothing of lasting value was said." : lines.join("\n");
}

/** Facts come from the user's words only. A prompt without a transcript in our form is read from its conversation block. */
function factsAnswer(spoken: readonly Spoken[], prompt: string): string {
  const words = spoken.length > 0 ? spoken.filter(({ role }) => role === "user") : linesOfUser(prompt);
  const forgotten = new Map(words.flatMap(({ seq, text }) => forgottenIn(text).map((content) => [content, seq])));
  const facts = words.flatMap(({ seq, text }) => {
    const told = factsIn(text).filter(({ content }) => seq > (forgotten.get(content) ?? 0));
    return told.map((fact) => ({ ...fact, seqs: [seq] }));
  });
  const known = prompt.slice(0, prompt.indexOf("<transcript>")).matchAll(KNOWN_FACT);
  const removed = [...known].flatMap(([, id, content = ""]) => {
    return forgotten.has(content) ? [{ id: Number(id), quote: "" }] : [];
  });
  return JSON.stringify({ newFacts: facts, factsToRemove: removed });
}

/** `1. The user lives in Oslo (context)` */
const KNOWN_FACT = /^(\d+)\. (.+) \([^()]*\)$/gm;

function linesOfUser(prompt: string): Spoken[] {
  const lines = prompt.split("\n").flatMap((line) => /^\s*(?:user|human)\s*:\s*(.+)$/i.exec(line)?.[1] ?? []);
  return lines.map((text, index) => ({ seq: index + 1, role: "user", text }));
}

/* Plain requests about files ("read notes.txt", "list files", "write X to Y") as calls of the tools that can do them. */

export function askFileTool({ question, tools, uploads }: Situation): PlayedAnswer | null {
  const request = requestIn(question.replaceAll(MENTION, (whole, path: string) => uploadOf(path, uploads) ?? whole));
  if (request === null) return null;
  const tool = NAMES[request.kind].map((name) => tools.get(name)).find((offered) => offered !== undefined);
  if (tool === undefined) return null;
  return { calls: [{ name: tool.name, input: inputFor(tool, request) }] };
}

export function tellResult({ name, text, isError }: ToolAnswer): string {
  if (isError) return `The tool ${name} failed: ${clip(text, 2_000)}`;
  return text.trim() === "" ? `The tool ${name} is done.` : `The tool ${name} answered:\n${clip(text, 2_000)}`;
}

const MENTION = /(?<!\S)@(\S+)/g;

/** The copy of a mentioned file; the newest has a number behind its name if others have the name too. */
function uploadOf(path: string, uploads: readonly string[]): string | undefined {
  const name = path.slice(path.lastIndexOf("/"));
  const isNamed = (file: string) => file.endsWith(name.startsWith("/") ? name : `/${name}`);
  return uploads.findLast((upload) => isNamed(upload) || isNamed(upload.replace(/-\d+(?=\.[^./]*$|$)/, "")));
}

type FileRequest =
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "list"; readonly path: string }
  | { readonly kind: "write"; readonly path: string; readonly content: string };

const NAMES: Readonly<Record<FileRequest["kind"], readonly string[]>> = {
  read: ["read_file", "read", "view", "cat"],
  list: ["ls", "list_files", "list_dir", "list", "glob"],
  write: ["write_file", "write", "create_file"],
};

const PATH = String.raw`["'\x60]?([\w./~-]*[\w/~-])["'\x60]?`;
const READ = new RegExp(
  String.raw`^(?:please\s+)?(?:read|open|show(?: me)?|cat|print)\s+(?:the\s+)?(?:file\s+)?${PATH}[.!?]*$`,
  "i",
);
const LIST = new RegExp(
  String.raw`^(?:please\s+)?(?:ls|(?:list|show(?: me)?)\s+(?:all\s+)?(?:the\s+|my\s+)?files)(?:\s+(?:in|of|under)\s+${PATH})?[.!?]*$`,
  "i",
);
const WRITE = new RegExp(
  String.raw`^(?:please\s+)?(?:write|save|put)\s+(?:"([^"]*)"|'([^']*)'|(\S(?:[\s\S]*?\S)?))\s+(?:to|into|in|as)\s+(?:the\s+)?(?:file\s+)?${PATH}[.!?]*$`,
  "i",
);

/** A read needs something that looks like a file, so that "open the door" stays talk. */
function requestIn(question: string): FileRequest | null {
  const text = question.trim();
  const list = LIST.exec(text);
  if (list !== null) return { kind: "list", path: list[1] ?? "." };
  const write = WRITE.exec(text);
  if (write !== null && isFile(write[4]!)) {
    return { kind: "write", content: write[1] ?? write[2] ?? write[3] ?? "", path: write[4]! };
  }
  const read = READ.exec(text);
  return read !== null && isFile(read[1]!) ? { kind: "read", path: read[1]! } : null;
}

const isFile = (path: string): boolean => /[./]/.test(path);

const PATH_ARGUMENTS = ["path", "file_path", "filePath", "filename", "file", "pattern", "directory", "dir"];
const TEXT_ARGUMENTS = ["content", "contents", "text", "data"];

function inputFor(tool: OfferedTool, request: FileRequest): Record<string, string> {
  const path = PATH_ARGUMENTS.find((name) => tool.arguments.includes(name)) ?? "path";
  const place = path === "pattern" && request.path === "." ? "*" : request.path;
  if (request.kind !== "write") return { [path]: place };
  const content = TEXT_ARGUMENTS.find((name) => tool.arguments.includes(name)) ?? "content";
  return { [path]: request.path, [content]: request.content };
}

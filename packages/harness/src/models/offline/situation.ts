/** What the offline model sees of a request: who said what, which tools are offered, which facts words state. */

import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { asksToForget } from "@palimpsest/core/internal/memory";
import { type AiSdkMessage, aiSdkShape, type ResultPart } from "@palimpsest/core/internal/message";
import { messagesOf } from "./played-answer.ts";

export interface Situation {
  readonly system: string;
  /** The last thing the user said. */
  readonly question: string;
  /** Files that were copied in with it. */
  readonly uploads: readonly string[];
  /** What memory put into the prompt and added to the question, line by line. */
  readonly remembered: readonly string[];
  /** Results that came after it, with what was called. */
  readonly results: readonly ToolAnswer[];
  /** Everything before the question, without the system prompt. */
  readonly earlier: readonly AiSdkMessage[];
  readonly tools: ReadonlyMap<string, OfferedTool>;
}

export interface ToolAnswer {
  readonly name: string;
  readonly input: string;
  readonly text: string;
  readonly isError: boolean;
}

export interface OfferedTool {
  readonly name: string;
  /** Names of the arguments it takes. */
  readonly arguments: readonly string[];
}

export function situationOf(options: Pick<LanguageModelV4CallOptions, "prompt" | "tools" | "toolChoice">): Situation {
  const messages = messagesOf(options.prompt);
  const index = messages.findLastIndex((message) => message.role === "user");
  const system = messages
    .filter(({ role }) => role === "system")
    .map(textOf)
    .join("\n");
  const text = index === -1 ? "" : textOf(messages[index]!);
  return {
    system,
    question: text.replaceAll(EVIDENCE, "").replace(UPLOADED, "").replace(STANDING, "").replace(TIME_PASSED, ""),
    uploads: UPLOADED.exec(text.replaceAll(EVIDENCE, ""))?.[1]?.split(", ") ?? [],
    remembered: rememberedIn(text, system),
    results: answersIn(messages.slice(index + 1)),
    earlier: messages.slice(0, Math.max(0, index)).filter(({ role }) => role !== "system"),
    tools: options.toolChoice?.type === "none" ? new Map() : offered(options.tools ?? []),
  };
}

/** Evidence that memory adds to a question is not part of it. */
const EVIDENCE = /(?<!\s)\s*<evidence>\n(?:(?!<evidence>\n)[\s\S])*?<\/evidence>/g;

/** Nor is what the chat says of files that were copied in. */
const UPLOADED = /\n\n\(Uploaded: ([^\n]*)\)$/;

/** Nor are the standing rules that stand before a first message. */
const STANDING = /^\[Standing rules[^\]\n]*\]\n(?:- [^\n]*\n)*\n*/;

/** Nor is the line that says how long ago the message before was. */
const TIME_PASSED = /(?<!\s)\s*\[\d+ (?:hours|days) after the message before: [\d :-]+ UTC\]/;

/** Nor is the summary of what was hidden: a turn of its own, or up to the line that ends it. */
const RECORD =
  /^Record of the earlier conversation, messages 1 to [\s\S]*?(?:\(End of the summary\. The conversation goes on from here\.\)|$)/;

/** Whether messages were hidden behind a summary. */
export function isSummarized(messages: readonly AiSdkMessage[]): boolean {
  return messages.some((message) => RECORD.test(textOf(message).replace(STANDING, "")));
}

const BLOCK = /<memory>\n((?:(?!<memory>\n)[\s\S])*?)<\/memory>/g;

function rememberedIn(question: string, system: string): string[] {
  const evidence = [...question.matchAll(EVIDENCE)].map(([whole]) => whole);
  const blocks = [...system.matchAll(BLOCK)].map(([, inside]) => inside!);
  const lines = [...evidence, ...blocks].flatMap((text) => text.split("\n"));
  return lines
    .filter((line) => /^(?:- |\d+ )/.test(line))
    .map((line) => line.replace(/^- |^\d+ [^:]{1,40}: |(?<!\s)\s*\(confidence: [\d.]+\)$/g, ""));
}

function textOf(message: AiSdkMessage): string {
  const parts = aiSdkShape.parts(message);
  return parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
}

function answersIn(messages: readonly AiSdkMessage[]): ToolAnswer[] {
  const inputs = new Map<string, { name: string; input: string }>();
  const results: ResultPart[] = [];
  for (const part of messages.flatMap((message) => aiSdkShape.parts(message))) {
    if (part.kind === "call") inputs.set(part.id, part);
    if (part.kind === "result") results.push(part);
  }
  return results.map(({ id, name, text, isError }) => {
    const call = inputs.get(id);
    return { name: name ?? call?.name ?? "", input: call?.input ?? "", text, isError };
  });
}

function offered(tools: NonNullable<LanguageModelV4CallOptions["tools"]>): Map<string, OfferedTool> {
  const toolsByName = new Map<string, OfferedTool>();
  for (const tool of tools) {
    if (tool.type !== "function") continue;
    const properties = tool.inputSchema.properties ?? {};
    toolsByName.set(tool.name, { name: tool.name, arguments: Object.keys(properties) });
  }
  return toolsByName;
}

export interface Spoken {
  readonly seq: number;
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** The words between the transcript tags, without tool traffic; null when there is no transcript. */
export function spokenIn(prompt: string): readonly Spoken[] | null {
  const start = prompt.indexOf("<transcript>\n");
  const end = prompt.lastIndexOf("</transcript>");
  if (start === -1 || end < start) return null;
  const spoken: { seq: number; role: "user" | "assistant"; text: string }[] = [];
  let current: (typeof spoken)[number] | null = null;
  for (const line of prompt.slice(start + "<transcript>\n".length, end).split("\n")) {
    const head = /^\[#(\d+) ([^\]\n]*)\]$/.exec(line);
    if (head === null) {
      if (current !== null) current.text += `${line.replace(/^([ \t]*)\\(?=\\*\[#\d)/, "$1")}\n`;
      continue;
    }
    const [, seq, label] = head;
    current = label === "user" || label === "assistant" ? { seq: Number(seq), role: label, text: "" } : null;
    if (current !== null) spoken.push(current);
  }
  return spoken.map((piece) => ({ ...piece, text: piece.text.trim() }));
}

/** The conversation itself, where it stands before the request, without summary and rules; its messages are numbered from 1. */
export function spokenBefore(messages: readonly AiSdkMessage[]): readonly Spoken[] {
  return messages.flatMap((message, index) => {
    const { role } = message;
    const text = textOf(message).replaceAll(EVIDENCE, "").replace(STANDING, "").replace(RECORD, "").trim();
    return (role === "user" || role === "assistant") && text !== "" ? [{ seq: index + 1, role, text }] : [];
  });
}

/** Facts about the user by the patterns people tell them in. What it doesn't recognize it leaves out. */
interface PatternFact {
  readonly content: string;
  readonly category: "preference" | "knowledge" | "context" | "behavior" | "goal";
  readonly confidence: number;
  /** The user's own words. */
  readonly quote: string;
}

type FactRule = readonly [pattern: RegExp, category: PatternFact["category"], say: (found: string) => string];

const REST = String.raw`([^.!?;\n]{1,160})`;

const rule = (source: string, category: PatternFact["category"], say: (found: string) => string): FactRule => [
  // A name is known by its capital, so where one is asked for, case matters.
  new RegExp(source, source.includes("\\p{Lu}") ? "gu" : "giu"),
  category,
  say,
];

const RULES: readonly FactRule[] = [
  rule(
    String.raw`\b[Mm]y name is ([\p{L}][\p{L}'’-]*(?: \p{Lu}[\p{L}'’-]*){0,3})`,
    "context",
    (name) => `The user's name is ${name}`,
  ),
  rule(String.raw`\b[Cc]all me (\p{Lu}[\p{L}'’-]*)`, "preference", (name) => `The user wants to be called ${name}`),
  rule(String.raw`\bi (?:really |always |usually )?prefer ${REST}`, "preference", (what) => `The user prefers ${what}`),
  rule(String.raw`\bi (?:really )?(?:like|love|enjoy) ${REST}`, "preference", (what) => `The user likes ${what}`),
  rule(
    String.raw`\bi (?:really )?(?:don['’]?t like|dislike|hate) ${REST}`,
    "preference",
    (what) => `The user dislikes ${what}`,
  ),
  rule(
    String.raw`\bi(?: am|['’]m)? work(?:ing)? (?:at|for) ${REST}`,
    "context",
    (where) => `The user works at ${where}`,
  ),
  rule(String.raw`\bi work as ${REST}`, "context", (what) => `The user works as ${what}`),
  rule(String.raw`\bi(?: am|['’]m)? liv(?:e|ing) in ${REST}`, "context", (where) => `The user lives in ${where}`),
  rule(String.raw`\bi(?: am|['’]m) from ${REST}`, "context", (where) => `The user is from ${where}`),
  rule(String.raw`\bi(?: am|['’]m) allergic to ${REST}`, "context", (what) => `The user is allergic to ${what}`),
  rule(String.raw`\bmy (favou?rite [\p{L} ]{1,40}? is [^.!?;\n]{1,80})`, "preference", (what) => `The user's ${what}`),
];

const CONFIDENCE = 0.9;
/** How many characters before a fact can ask to forget it. */
const CLAUSE = 100;

/** A fact that the user asks to forget is not told. */
export function factsIn(text: string): readonly PatternFact[] {
  return patternFacts(text, "told");
}

/** What the user asks to forget, in the words of a fact. */
export function forgottenIn(text: string): readonly string[] {
  return patternFacts(text, "forgotten").map(({ content }) => content);
}

function patternFacts(text: string, wanted: "told" | "forgotten"): readonly PatternFact[] {
  const facts = new Map<string, PatternFact>();
  for (const [pattern, category, say] of RULES) {
    for (const match of text.matchAll(pattern)) {
      const value = match[1]!.replace(/,? (?:and (?:i|my)|but)\b.*$/is, "").trim();
      if (value === "") continue;
      const content = say(value);
      const before = text.slice(Math.max(0, match.index - CLAUSE), match.index);
      const clause = before.split(/[.!?;,\n]/).at(-1)! + match[0];
      if (asksToForget(clause, content) !== (wanted === "forgotten")) continue;
      facts.set(content.toLowerCase(), { content, category, confidence: CONFIDENCE, quote: match[0].trim() });
    }
  }
  return [...facts.values()];
}

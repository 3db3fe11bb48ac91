/**
 * What a prompt is asked for: each path, name, number, name of an error line and quoted line that a message of the assistant
 * uses and that was last said more than so many messages before, and every request of the user. The probes come from the
 * session alone; this file shares no code with whatever makes the prompts.
 */
import type { OpenAiMessage } from "@palimpsest/core/internal/message";
import { folded, lastSeen, PATH, parsed, WORD } from "../replay/judge.ts";

export const KINDS = ["path", "name", "number", "error", "line"] as const;
export type ProbeKind = (typeof KINDS)[number];

export interface Probe {
  /** Index of the message that uses it. */
  readonly at: number;
  readonly kind: ProbeKind;
  /** White space folded. */
  readonly text: string;
  /** Index of the last message before it that held it. */
  readonly source: number;
}

/** `distance`: a probe's source lies more than this many messages back. */
export function probesOf(messages: readonly OpenAiMessage[], distance: number): readonly Probe[] {
  const texts = messages.map(readable);
  const seen = lastSeen();
  return messages.flatMap((message, at) => {
    if (message.role !== "assistant") return [];
    return [...termsOf(message)].flatMap(([text, kind]): Probe[] => {
      // The end of a longer word: nothing could ever hold it.
      if (!holds(texts[at]!, text, kind)) return [];
      const source = seen(text, at, (index) => holds(texts[index]!, text, kind));
      if (source === null || at - source <= distance) return [];
      return [{ at, kind: kind === "name" && isOnErrorLine(messages[source]!, text) ? "error" : kind, text, source }];
    });
  });
}

/** The beginning of each request of the user, by the message's index. */
export function requestsOf(messages: readonly OpenAiMessage[]): ReadonlyMap<number, string> {
  const requests = messages.flatMap((message, index): [number, string][] => {
    const text = message.role === "user" ? readable(message).slice(0, BEGINNING).trim() : "";
    return text.length < SHORTEST_REQUEST ? [] : [[index, text]];
  });
  return new Map(requests);
}

/** Whether a folded text holds it; a name or a number only as a whole word. */
export function holds(text: string, probe: string, kind: ProbeKind): boolean {
  if (kind === "line" || kind === "path") return text.includes(probe);
  for (let at = text.indexOf(probe); at >= 0; at = text.indexOf(probe, at + 1))
    if (![text[at - 1], text[at + probe.length]].some((beside) => isPartOf(kind, beside))) return true;
  return false;
}

/** What can be read in a message: its words and the strings in its calls, white space folded. */
export function readable(message: OpenAiMessage): string {
  const known = folds.get(message);
  if (known !== undefined) return known;
  const text = folded(stringsOf(message).join("\n"));
  folds.set(message, text);
  return text;
}

const folds = new WeakMap<OpenAiMessage, string>();

/** Each line of a message, white space folded, without empty ones. */
export function linesOf(message: OpenAiMessage): readonly string[] {
  return stringsOf(message).flatMap((text) =>
    text
      .split("\n")
      .map(folded)
      .filter((line) => line !== ""),
  );
}

function stringsOf(message: OpenAiMessage): readonly string[] {
  const strings: string[] = [];
  const { content, tool_calls: calls = [] } = message;
  if (typeof content === "string") strings.push(content);
  else for (const part of content ?? []) if ("text" in part && typeof part.text === "string") strings.push(part.text);
  for (const { function: called } of calls ?? []) collect(parsed(called.arguments), strings);
  return strings;
}

function collect(value: unknown, into: string[]): void {
  if (typeof value === "string") into.push(value);
  else if (typeof value === "number") into.push(String(value));
  else if (typeof value === "object" && value !== null) for (const item of Object.values(value)) collect(item, into);
}

const BEGINNING = 60;
const SHORTEST_REQUEST = 12;
const SHORTEST_LINE = 20;
const SHORTEST_NAME = 5;

const NUMBER = /\b\d[\d.,:]*\b/g;
const ERROR_LINE = /(?:error|exception)\b|\b(?:fail(?:ed|ure|s)?|cannot|not found|undefined|invalid|denied|refused)\b/i;

function termsOf(message: OpenAiMessage): ReadonlyMap<string, ProbeKind> {
  const terms = new Map<string, ProbeKind>();
  for (const text of stringsOf(message)) {
    for (const path of text.match(PATH) ?? [])
      if (/[a-z]/i.test(path)) terms.set(path.replace(/(?<![.,:])[.,:]+$/, ""), "path");
    for (const word of text.match(WORD) ?? []) if (isName(word)) terms.set(word, "name");
    for (const number of text.match(NUMBER) ?? []) {
      const plain = number.replace(/(?<![.,:])[.,:]+$/, "");
      if (plain.replace(/\D/g, "").length >= 3) terms.set(plain, "number");
    }
    for (const line of text.split("\n").map(folded)) if (line.length >= SHORTEST_LINE) terms.set(line, "line");
  }
  return terms;
}

/** Written as no word of prose is: a capital or a digit inside, or an underscore between. */
function isName(word: string): boolean {
  return word.length >= SHORTEST_NAME && /[a-z\d][A-Z]|[A-Za-z\d]_[A-Za-z\d]|[A-Za-z]\d/.test(word);
}

function isOnErrorLine(message: OpenAiMessage, name: string): boolean {
  return linesOf(message).some((line) => line.includes(name) && ERROR_LINE.test(line));
}

/** A name may hold a dollar sign; before a number it is a currency. */
function isPartOf(kind: ProbeKind, beside: string | undefined): boolean {
  return beside !== undefined && (kind === "number" ? /\w/ : /[\w$]/).test(beside);
}

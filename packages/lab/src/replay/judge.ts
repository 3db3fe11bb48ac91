/**
 * Judges a prompt by what the model does next: a path, an identifier or a line that a message uses and that was said
 * before must stand in the prompt it was written from, word for word. It shares no code with the pruner (a test says so):
 * a policy can't leave behind exactly what it will be asked for. The questions come from the session alone.
 */
import type { OpenAiMessage } from "@palimpsest/core/internal/message";

export type UseKind = "path" | "identifier" | "line" | "edit";

/** Something said before that a message uses again. `edit`: the whole text that an edit replaces. */
export interface Use {
  readonly at: number;
  readonly kind: UseKind;
  /** White space folded. */
  readonly text: string;
  /** The last message before it that held it. */
  readonly lastSeen: number;
}

const MIN_LINE = 20;
const MIN_IDENTIFIER = 5;

/** All uses in the order of the messages, at any distance; what was not said before is no use. */
export function findUses(messages: readonly OpenAiMessage[]): readonly Use[] {
  const texts = messages.map((message) => readable(message));
  const seen = lastSeen();
  return messages.flatMap((message, at) => {
    if (message.role !== "assistant") return [];
    return termsOf(message).flatMap(({ kind, text }): Use[] => {
      const source = seen(text, at, (index) => texts[index]!.includes(text));
      return source === null ? [] : [{ at, kind, text, lastSeen: source }];
    });
  });
}

/** What can be read in a message, white space folded. `stubs: "skip"`: what a pruner has left behind is not read. */
export function readable(message: OpenAiMessage, stubs: "read" | "skip" = "read"): string {
  const cache = stubs === "read" ? whole : unpruned;
  const known = cache.get(message);
  if (known !== undefined) return known;
  const strings = stringsOf(message).map(({ value }) => value);
  const text = folded((stubs === "read" ? strings : strings.filter((each) => !each.startsWith(STUB))).join("\n"));
  cache.set(message, text);
  return text;
}

/** Newest first: that is where most of what is used stands. */
export function isVisible(text: string, prompt: readonly string[]): boolean {
  return prompt.findLast((each) => each.includes(text)) !== undefined;
}

const STUB = "[pruned";
const whole = new WeakMap<OpenAiMessage, string>();
const unpruned = new WeakMap<OpenAiMessage, string>();

/** For terms asked in the order of the messages: each message before `at` is searched for a term once. */
export function lastSeen(): (term: string, at: number, holds: (index: number) => boolean) => number | null {
  const known = new Map<string, { readonly at: number; readonly answer: number | null }>();
  return (term, at, holds) => {
    const before = known.get(term);
    if (before?.at === at) return before.answer;
    // A message that asked for it holds it too.
    let answer = before?.at ?? null;
    for (let index = at - 1; index > (before?.at ?? -1); index--) {
      if (!holds(index)) continue;
      answer = index;
      break;
    }
    known.set(term, { at, answer });
    return answer;
  };
}

interface JudgedWords {
  /** The key it stands under in a call's input; null for words. */
  readonly key: string | null;
  readonly value: string;
}

function stringsOf({ content, ...message }: OpenAiMessage): readonly JudgedWords[] {
  const strings: JudgedWords[] = [];
  if (typeof content === "string") strings.push({ key: null, value: content });
  else
    for (const part of content ?? [])
      if ("text" in part && typeof part.text === "string") strings.push({ key: null, value: part.text });
  const calls = "tool_calls" in message && Array.isArray(message.tool_calls) ? message.tool_calls : [];
  for (const call of calls) if ("function" in call) collect(parsed(call.function.arguments), null, strings);
  return strings;
}

function collect(value: unknown, key: string | null, into: JudgedWords[]): void {
  if (typeof value === "string") into.push({ key, value });
  else if (Array.isArray(value)) for (const item of value) collect(item, key, into);
  else if (typeof value === "object" && value !== null)
    for (const [name, item] of Object.entries(value)) collect(item, name, into);
}

/** The value of a JSON text; any other text itself. */
export function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

const REPLACED: ReadonlySet<string> = new Set(["oldText", "old_text", "oldString", "old_string", "old_str"]);

function termsOf(message: OpenAiMessage): readonly { readonly kind: UseKind; readonly text: string }[] {
  const terms = new Map<string, UseKind>();
  const edits = new Set<string>();
  for (const { key, value } of stringsOf(message)) {
    for (const text of value.match(PATH) ?? []) if (/[a-z]/i.test(text)) terms.set(withoutMarks(text), "path");
    for (const text of value.match(WORD) ?? []) if (isIdentifier(text)) terms.set(text, "identifier");
    for (const line of value.split("\n").map(folded)) if (line.length >= MIN_LINE) terms.set(line, "line");
    if (key !== null && REPLACED.has(key) && folded(value).length >= MIN_LINE) edits.add(folded(value));
  }
  return [
    ...[...terms].map(([text, kind]) => ({ kind, text })),
    ...[...edits].map((text) => ({ kind: "edit" as const, text })),
  ];
}

/** Without the marks of a sentence that ends with it. A loop: an expression would try again from every mark. */
function withoutMarks(path: string): string {
  let end = path.length;
  while (end > 0 && ".,:".includes(path[end - 1]!)) end -= 1;
  return path.slice(0, end);
}

export const PATH =
  /[\w@~.+-]{0,80}(?:\/[\w@.+-]{1,80}){1,20}|\b[\w-]{1,80}\.(?:[cm]?[jt]sx?|json|md|py|rs|go|java|ya?ml|toml|html|css|sh|sql|txt)\b/g;
export const WORD = /[A-Za-z_$][\w$]*/g;

/** Written as no word of prose is: with a capital inside, or an underscore between. */
function isIdentifier(word: string): boolean {
  return word.length >= MIN_IDENTIFIER && (/[a-z\d][A-Z]/.test(word) || /[A-Za-z\d]_[A-Za-z\d]/.test(word));
}

export function folded(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

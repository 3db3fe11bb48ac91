/**
 * What a prompt still says of the messages it no longer shows word for word, judged the same way for all and by
 * rules of its own: a message is lost when neither one of its names nor the beginning of one of its sentences stands
 * anywhere in the prompt.
 */
import type { OpenAiMessage } from "@palimpsest/core/internal/message";

export interface Told {
  /** Messages that the prompt doesn't hold as they were said. */
  readonly hidden: number;
  /** Those of them it says nothing of. */
  readonly lost: number;
}

/** `said`: the dialog so far and maybe further: what came after the newest message of the prompt is left out. */
export function toldIn(sent: readonly OpenAiMessage[], said: readonly OpenAiMessage[]): Told {
  const shown = new Set(sent.map(keyOf));
  const last = said.findLastIndex((message) => shown.has(keyOf(message)));
  const earlier = said.slice(0, last + 1).filter(({ role }) => role !== "system");
  const hidden = earlier.filter((message) => !shown.has(keyOf(message)));
  const prompt = folded(sent.map(textOf).join("\n"));
  return { hidden: hidden.length, lost: hidden.filter((message) => !isTold(textOf(message), prompt)).length };
}

function isTold(text: string, prompt: string): boolean {
  const whole = folded(text);
  if (whole.length < SENTENCE) return prompt.includes(whole);
  const names = whole.match(/[\w-]{4,}/g)?.filter((word) => /\d/.test(word)) ?? [];
  if (names.some((name) => prompt.includes(name))) return true;
  return text
    .split(/[\n.?!]/)
    .map(folded)
    .some((sentence) => sentence.length >= SENTENCE && prompt.includes(sentence.slice(0, 2 * SENTENCE)));
}

const SENTENCE = 20;

function folded(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, " ").trim();
}

function keyOf(message: OpenAiMessage): string {
  return `${message.role}\n${folded(textOf(message))}`;
}

/** What was said, called and answered; a call by its name and its arguments, however they are spaced. */
function textOf({ content, tool_calls: calls }: OpenAiMessage): string {
  const said = typeof content === "string" ? content : content == null ? "" : JSON.stringify(content);
  const called = (calls ?? []).map(({ function: { name, arguments: input } }) => `${name} ${spaced(input)}`);
  return [said, ...called].join("\n").trim();
}

function spaced(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return json;
  }
}

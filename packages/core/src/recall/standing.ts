/**
 * Recognizes sentences by which a user tells how things are to be done from then on ("always use type hints"), and lasting
 * preferences ("I prefer short answers"). Without a model, and precision first: a sentence that only might be one is left out.
 * Code, quotations, questions and what stands after the introduction of somebody else's text are never read. Pure, total on
 * every string, linear.
 */

import type { Origin } from "../log/record.ts";
import type { Shape } from "../message/shape.ts";
import { OPENERS, ownWords, sentencesIn } from "../text/own-words.ts";
import { INSTRUCTIONS, ONCE, PREFERENCES, STATEMENT, TOLD } from "./standing-forms.ts";

export interface StandingSentence {
  readonly kind: "instruction" | "preference";
  readonly text: string;
}

/** Held by every entry of a user with such a sentence. No word begins with such a sign, so no text can hold it by chance. */
export const STANDING_TERM = "@standing";
/** Held by those of them that a person typed in this thread: only these are shown as instructions. */
export const TYPED_TERM = "@typed";

const MAX_SENTENCE = 400;
const MAX_READ = 50_000;

/** In the order they stand. */
export function standingSentences(text: string): StandingSentence[] {
  const read = text.slice(0, MAX_READ);
  const plain = ownWords(read, { quotes: "all", paragraphs: "strict", isKnown: (one) => kindOf(one) !== null });
  const found: StandingSentence[] = [];
  for (const { start, end } of sentencesIn(plain)) {
    const kind = end - start > MAX_SENTENCE ? null : kindOf(plain.slice(start, end));
    if (kind !== null) found.push({ kind, text: read.slice(start, end).replace(LIST_MARK, "").trim() });
  }
  return found;
}

/** The sentences of a message that are a person's own standing instructions and preferences. */
export function typedInstructions<M>(message: M, shape: Shape<M>, origin: Origin): StandingSentence[] {
  return standingSentences(typedText(message, shape, origin));
}

/**
 * What a person typed in this thread: empty for messages that were imported, injected or read from elsewhere, for those of somebody with a
 * name of their own, and for those that carry a tool's call or result, as some clients send them in the user's name.
 */
export function typedText<M>(message: M, shape: Shape<M>, origin: Origin): string {
  if (origin !== "user" || shape.role(message) !== "user" || speakerName(message) !== null) return "";
  const parts = shape.parts(message);
  if (parts.some(({ kind }) => kind === "call" || kind === "result")) return "";
  return parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n\n");
}

/** The name of a person, where a message of a user or an assistant has one. */
export function speakerName(message: unknown): string | null {
  if (typeof message !== "object" || message === null || !("name" in message) || !("role" in message)) return null;
  const { name, role } = message;
  return typeof name === "string" && name.trim() !== "" && (role === "user" || role === "assistant")
    ? name.trim()
    : null;
}

const LIST_MARK = /^\s*(?:[-*+\u2022]|\d{1,2}[.)])\s+/;

function kindOf(raw: string): StandingSentence["kind"] | null {
  const sentence = raw.replace(LIST_MARK, "").trim();
  if (sentence.length < 8 || TOLD.test(sentence)) return null;
  const bare = sentence.replace(OPENERS, "");
  const asks = /[?\uff1f]["')\]]*$/.test(sentence);
  if (!asks && INSTRUCTIONS.some((form) => form.test(bare)) && !STATEMENT.test(bare)) return "instruction";
  return PREFERENCES.some((form) => form.test(bare)) && !ONCE.test(bare) ? "preference" : null;
}

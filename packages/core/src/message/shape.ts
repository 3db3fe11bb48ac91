/**
 * The message port. Everything in core reads messages through a `Shape<M>`, a table of functions over one provider's own
 * message objects; there is no internal copy of a message. A `Part` is a read-only view of one piece of a message's
 * content, and its index is stable: `withPart(m, i, p)` replaces exactly what `parts(m)[i]` showed and nothing else.
 */

export type Dialect = "openai" | "anthropic" | "ai-sdk";

/**
 * What a message does in the conversation, whatever its provider calls it. A message that carries tool results is `tool`,
 * also where the provider spells it as a user message (Anthropic); text beside the results is the user's.
 */
export type Role = "system" | "user" | "assistant" | "tool";

export type Part = TextPart | ReasoningPart | CallPart | ResultPart | ImagePart | FilePart | OtherPart;

export interface TextPart {
  readonly kind: "text";
  readonly text: string;
}

/** Thinking. `signature` is the provider's proof; a signed or redacted part must stay beside its calls, unedited. */
export interface ReasoningPart {
  readonly kind: "reasoning";
  readonly text: string;
  readonly signature: string | null;
}

/** `input` is JSON text, exactly as the provider sent it where the provider sends text. */
export interface CallPart {
  readonly kind: "call";
  readonly id: string;
  readonly name: string;
  readonly input: string;
}

/** `text` is everything textual in the result; images inside it are listed apart so that they can be counted. */
export interface ResultPart {
  readonly kind: "result";
  readonly id: string;
  readonly name: string | null;
  readonly text: string;
  readonly isError: boolean;
  readonly images: readonly ImagePart[];
}

export interface ImagePart {
  readonly kind: "image";
  readonly mediaType: string | null;
  readonly source: { readonly kind: "base64"; readonly data: string } | { readonly kind: "url"; readonly url: string };
}

export interface FilePart {
  readonly kind: "file";
  readonly mediaType: string | null;
  readonly name: string | null;
  /** Base64 or text; empty when the file is only referred to. */
  readonly data: string;
}

/** A block we carry but don't interpret. It counts by its JSON and is never edited. */
export interface OtherPart {
  readonly kind: "other";
  readonly json: string;
}

export interface Shape<M> {
  readonly dialect: Dialect;
  role(message: M): Role;
  parts(message: M): readonly Part[];
  /** The same message with one part replaced; provider options, cache marks and sibling parts stay as they are. */
  withPart(message: M, index: number, replacement: Part): M;
  /** Ids of the tool calls this message makes, in order. */
  calls(message: M): readonly string[];
  /** Ids of the tool calls this message answers, in order. */
  answers(message: M): readonly string[];
  /** A new plain text message. */
  turn(role: "system" | "user" | "assistant", text: string): M;
  /** New messages that answer these calls; one message or one per result, as the provider demands. */
  results(answers: readonly Answer[]): readonly M[];
  /** Two neighbouring messages of the same role as one, all parts in order. */
  join(first: M, second: M): M;
}

export interface Answer {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
}

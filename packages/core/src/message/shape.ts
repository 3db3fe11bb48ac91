/**
 * The message port. Everything in core reads messages through a `Shape<M>`, a table of functions over one provider's own
 * message objects; there is no internal copy of a message. A `Part` is a read-only view of one piece of a message's
 * content, and its index is stable: `withPart(m, i, p)` replaces exactly what `parts(m)[i]` showed and nothing else.
 */
import type { ToolFacts } from "./rules.ts";

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
  /** Empty when the provider keeps the text to itself. */
  readonly text: string;
  readonly signature: string | null;
  /** Who signed: `anthropic`, `google`, ... Only the signer accepts it back. */
  readonly signedBy: string | null;
  /** The signature is the encrypted thought itself, not a proof of `text`. */
  readonly redacted: boolean;
}

/** `input` is JSON text, exactly as the provider sent it where the provider sends text. */
export interface CallPart {
  readonly kind: "call";
  readonly id: string;
  readonly name: string;
  readonly input: string;
  /** What the tool says of itself, where the shape was told. */
  readonly facts?: ToolFacts;
}

/** `text` is everything textual in the result; images inside it are listed apart so that they can be counted. */
export interface ResultPart {
  readonly kind: "result";
  readonly id: string;
  readonly name: string | null;
  readonly text: string;
  readonly isError: boolean;
  readonly images: readonly ImagePart[];
  readonly facts?: ToolFacts;
}

export interface ImagePart {
  readonly kind: "image";
  readonly mediaType: string | null;
  /** Absent where the dialect gives images none. */
  readonly name?: string;
  readonly source: { readonly kind: "base64"; readonly data: string } | { readonly kind: "url"; readonly url: string };
}

export interface FilePart {
  readonly kind: "file";
  readonly mediaType: string | null;
  readonly name: string | null;
  /** Base64 or text, as `encoding` says; empty when the file is only referred to. */
  readonly data: string;
  readonly encoding: "base64" | "text";
  /** Where the file lies, when it is only referred to: a URL or the provider's file id. */
  readonly ref: string | null;
}

/** A block we carry but don't interpret. It counts by its JSON and is never edited. */
export interface OtherPart {
  readonly kind: "other";
  /** The provider's own name of the block. */
  readonly type: string;
  readonly json: string;
}

export interface Shape<M> {
  /** One of ours, or the name of your own. */
  readonly dialect: string;
  role(message: M): Role;
  /** The role as the provider spells it: differs from `role` where tool results travel in a user message. */
  wireRole(message: M): Role;
  parts(message: M): readonly Part[];
  /**
   * The same message with one part, or several at once, replaced; options, cache marks and sibling parts stay as they are.
   * The replacement is of the part's own kind, or a text that stands for an image, a file or another block.
   */
  withPart(message: M, index: number, replacement: Part): M;
  withParts?(message: M, replacements: ReadonlyMap<number, Part>): M;
  /** The same message with only these parts, in this order. */
  select(message: M, indices: readonly number[]): M;
  /** Ids of the tool calls this message makes, in order. */
  calls(message: M): readonly string[];
  /** Ids of the tool calls this message answers, in order. */
  answers(message: M): readonly string[];
  /** New messages with these parts: mostly one; more where the provider wants results, or what follows them, apart. */
  make(role: Role, parts: readonly Part[]): readonly M[];
  /** A new plain text message. */
  turn(role: "system" | "user" | "assistant", text: string): M;
  /** The message with a note on where it came from, where the dialect has a place that no provider reads. */
  mark?(message: M, source: string): M;
  /** New messages that answer these calls; one message or one per result, as the provider demands. */
  results(answers: readonly Answer[]): readonly M[];
  /** Two neighbours of the same wire role as one, all parts in order; two strings stay a string. Not for OpenAI's `tool`. */
  join(first: M, second: M): M;
}

export interface Answer {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
}

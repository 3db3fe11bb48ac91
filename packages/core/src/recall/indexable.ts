/**
 * Which text of a message is indexed: its words, the names and inputs of its calls, its results. Of a huge text the head, the
 * tail, and between them the lines that report errors and the identifiers. Echoes give nothing: what search itself put
 * into the conversation must not be found again as if somebody had said it.
 */
import type { Origin } from "../log/record.ts";
import type { ToolFacts } from "../message/rules.ts";
import type { Part, Role, Shape } from "../message/shape.ts";
import { mentionsFailure } from "../text/lines.ts";
import { speakerName, typedText } from "./standing.ts";

/** Longest text of one message that is indexed whole, in characters. */
export const INDEXED_CHARACTERS = 16_000;

export interface Indexable {
  readonly text: string;
  /** Who speaks: the message's own `name` where it has one, else its role. */
  readonly speaker: string;
  readonly role: Role;
  /** What a person typed in this thread; empty where nobody did. */
  readonly typed: string;
}

export interface IndexableOptions {
  readonly origin: Origin;
  /** By id, from the calls before: a result that doesn't name its tool is known by its call. */
  readonly call?: (id: string) => ReadCall | undefined;
}

/** Null when nothing in the message is to be indexed: an echo, a system prompt, no text at all. */
export function indexableText<M>(message: M, shape: Shape<M>, options: IndexableOptions): Indexable | null {
  const role = shape.role(message);
  if (options.origin === "injected" || role === "system") return null;
  const texts: string[] = [];
  for (const part of shape.parts(message)) {
    const text = partText(part, options);
    if (text.trim() !== "") texts.push(text);
  }
  if (texts.length === 0) return null;
  const share = Math.max(1_000, Math.floor(INDEXED_CHARACTERS / texts.length));
  return {
    text: texts.map((text) => condense(text, share)).join("\n"),
    speaker: speakerName(message) ?? role,
    role,
    typed: typedText(message, shape, options.origin),
  };
}

interface ReadCall {
  readonly input: string;
  readonly facts?: ToolFacts | undefined;
}

/** A call that reads the past, whose result is therefore an echo. */
export function isEcho({ facts, input }: ReadCall): boolean {
  return facts?.answers === "history" || HISTORY_PATH.test(input);
}

const HISTORY_PATH = /(?:^|["'\s/=:])history\/(?:part-|["'\s*]|$)|\/mnt\/user-data\/history\b/;

function partText(part: Part, options: IndexableOptions): string {
  switch (part.kind) {
    case "text":
      return part.text;
    case "call":
      return isEcho(part) ? "" : `${part.name} ${readable(part.input)}`;
    case "result": {
      const { facts = part.facts, input = "" } = options.call?.(part.id) ?? {};
      return isEcho({ facts, input }) ? "" : part.text;
    }
    case "file":
      return part.name ?? "";
    case "reasoning":
    case "image":
    case "other":
      return "";
  }
}

/** JSON inputs as their values and keys; escaped line ends would glue words together. */
function readable(input: string): string {
  return input.replace(/\\[nrt]/g, " ").replace(/\\(["\\/])/g, "$1");
}

function condense(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const side = Math.floor(limit * 0.35);
  const middle = text.slice(side, text.length - side);
  let room = limit - 2 * side;
  const samples = new Set<string>();
  const keep = (text: string): void => {
    if (text.length > room) return;
    room -= text.length + 1;
    samples.add(text);
  };
  const lines = middle.split("\n");
  for (const line of lines) if (mentionsFailure(line.slice(0, 300))) keep(line.slice(0, 300));
  for (const [word] of middle.matchAll(RUN)) if (room > 0 && !samples.has(word) && PROGRAM_WORD.test(word)) keep(word);
  return [text.slice(0, side), ...samples, text.slice(text.length - side)].join("\n");
}

const RUN = /[\w./\\-]{3,200}/g;
/** Words that only a program writes: paths, snake and camel case, error codes. */
const PROGRAM_WORD = /\w[/\\_]\w|[a-z][A-Z]|^[A-Z]{1,6}\d{2,8}$|\w\.[a-z]{1,4}$/;

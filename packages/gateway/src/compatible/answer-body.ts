/**
 * An answer's bytes, as long as they are not too many and, in a stream, go on saying something: a provider that sends
 * nothing but comments would hold its client's place for ever.
 */

import { PalimpsestError } from "@palimpsest/core/errors";
import type { After } from "../http/event-stream.ts";
import type { AnswerReader, JsonFields, ReadAnswer } from "./vendor.ts";
import { parseFields } from "./vendor.ts";

export interface AnswerBounds {
  /** The most that is read. */
  readonly bytes: number;
  /** How long a stream may say nothing; null: no limit. */
  readonly idleMs: number | null;
  readonly after: After;
}

interface BoundedOptions extends AnswerBounds {
  readonly form: "stream" | "whole";
  /** Ends the answer, so that reading on fails with this error. */
  readonly stop: (error: UpstreamError) => void;
}

export async function* boundedBody(
  body: AsyncIterable<Uint8Array>,
  { form, bytes, idleMs, after, stop }: BoundedOptions,
): AsyncGenerator<Uint8Array> {
  const wait = (): (() => void) =>
    idleMs === null || form === "whole" ? () => {} : after(idleMs, () => stop(idle(idleMs)));
  const speaks = speaking();
  let size = 0;
  let cancel = wait();
  try {
    for await (const piece of body) {
      size += piece.length;
      if (size > bytes) throw tooLong(bytes);
      if (!speaks(piece)) yield piece;
      else {
        // A client that reads slowly is no silence of the provider's.
        cancel();
        yield piece;
        cancel = wait();
      }
    }
  } finally {
    cancel();
  }
}

export function tooLong(bytes: number): UpstreamError {
  return new UpstreamError("answer-too-long", `the model's provider sent more than ${bytes} bytes: they were not read`);
}

function idle(ms: number): UpstreamError {
  return new UpstreamError("timed-out", `the model's provider has said nothing for ${ms / 1000} s`);
}

/** Whether a piece of a stream holds anything but comments, empty lines and pings, wherever pieces are cut. */
function speaking(): (piece: Uint8Array) => boolean {
  let line: "begins" | "comment" | "text" = "begins";
  return (piece) => {
    if (line === "begins" && isPing(piece)) return false;
    for (let at = 0; at < piece.length; at += 1) {
      if (line === "comment") {
        const end = piece.indexOf(NEWLINE, at);
        if (end === -1) return false;
        at = end;
      }
      const byte = piece[at];
      if (byte === NEWLINE) line = "begins";
      else if (byte === COLON && line === "begins") line = "comment";
      else if (byte !== RETURN) {
        line = lineAfter(piece);
        return true;
      }
    }
    return false;
  };
}

/** Where the line stands behind a piece that has said something. */
function lineAfter(piece: Uint8Array): "begins" | "comment" | "text" {
  const last = piece.lastIndexOf(NEWLINE);
  if (last === piece.length - 1) return "begins";
  return last !== -1 && piece[last + 1] === COLON ? "comment" : "text";
}

const NEWLINE = 10;
const RETURN = 13;
const COLON = 58;

/** Anthropic's keep-alive. */
function isPing(piece: Uint8Array): boolean {
  return (
    piece.length < 200 && /^(?:event: ping\r?\ndata: \{"type": ?"ping"\}\r?\n\r?\n)+$/.test(String(Buffer.from(piece)))
  );
}

/** Server-sent events as their bytes come: whole events, whatever way the bytes were cut. */

export interface UpstreamEvent {
  readonly name: string | null;
  readonly data: string;
}

export function eventParser(): (bytes: Uint8Array) => UpstreamEvent[] {
  const decoder = new TextDecoder();
  // Of an event that hasn't ended: joined once, at its end, so that a long one isn't searched again with every piece.
  let pieces: string[] = [];
  let last = "";
  return (bytes) => {
    const text = (last + decoder.decode(bytes, { stream: true })).replaceAll("\r\n", "\n");
    const end = text.lastIndexOf("\n\n");
    // What may be the beginning of an end is looked at again with the next piece.
    const kept = lineEndsIn(text.slice(-3));
    if (end === -1) {
      last = text.slice(text.length - kept);
      pieces.push(text.slice(0, text.length - kept));
      return [];
    }
    const blocks = (pieces.join("") + text.slice(0, end)).split("\n\n");
    pieces = [];
    last = text.slice(end + 2);
    return blocks.flatMap(eventIn);
  };
}

/** A block without data is a comment. */
function eventIn(block: string): UpstreamEvent[] {
  let name: string | null = null;
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
    else if (line.startsWith("event:")) name = line.slice(6).trim();
  }
  return data.length === 0 ? [] : [{ name, data: data.join("\n") }];
}

/** Hands on what each event holds that is an object, with its text. */
export function objectReader(
  take: (fields: Readonly<Record<string, unknown>>, data: string) => void,
): (bytes: Uint8Array) => void {
  const parse = eventParser();
  return (bytes) => {
    for (const event of parse(bytes)) {
      const fields = dataOf(event);
      if (fields !== null) take(fields, event.data);
    }
  };
}

/** An event's data as an object; null for what is none. */
export function dataOf({ data }: Pick<UpstreamEvent, "data">): JsonFields | null {
  return parseFields(data);
}

/** How many characters of line ends the text ends with. */
function lineEndsIn(text: string): number {
  let count = 0;
  while (count < text.length && "\r\n".includes(text.at(-1 - count)!)) count += 1;
  return count;
}

/* Reader for an answer that is not streamed. */

export function wholeReader<M>(answerIn: (body: JsonFields | null) => ReadAnswer<M>): AnswerReader<M> {
  const pieces: Uint8Array[] = [];
  const answer = () => answerIn(dataOf({ data: Buffer.concat(pieces).toString() }));
  return {
    read: (bytes) => void pieces.push(bytes),
    state: () => answer().state,
    answer,
  };
}

/** The provider can't be reached, broke off, redirected, sent too much or stayed silent. The message is for the operator's log. */
export class UpstreamError extends PalimpsestError<"unreachable" | "redirected" | "answer-too-long" | "timed-out"> {
  static override readonly kind = "UpstreamError";
  /** What a client is told: without addresses of the operator's. */
  readonly told: string;

  constructor(
    code: UpstreamError["code"],
    told: string,
    more: { readonly message?: string; readonly cause?: unknown } = {},
  ) {
    super(code, more.message ?? told, more);
    this.told = told;
  }
}

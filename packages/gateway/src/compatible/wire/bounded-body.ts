/**
 * An answer's bytes, as long as they are not too many and, in a stream, go on saying something: a provider that sends
 * nothing but comments would hold its client's place for ever.
 */
import type { After } from "../../http/event-stream.ts";
import { UpstreamError } from "./upstream-error.ts";

export interface AnswerBounds {
  /** The most that is read. */
  readonly bytes: number;
  /** How long a stream may say nothing; null: no limit. */
  readonly idleMs: number | null;
  readonly after: After;
}

export interface BoundedOptions extends AnswerBounds {
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

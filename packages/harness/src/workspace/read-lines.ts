/**
 * Reads a range of lines of a text file of any size in constant memory. A range ends at a line count or at a size,
 * whichever comes first, and says where the next one starts, inside a long line too, so that every character of every
 * file can be reached by following the pointers.
 */
import type { FileHandle } from "node:fs/promises";

export interface LineRange {
  /** First line, from 1. */
  readonly offset: number;
  /** First character in that line, from 1. */
  readonly column: number;
  readonly limit: number;
  readonly maxChars: number;
}

export interface Slice {
  readonly kind: "text";
  readonly text: string;
  /** The last line of which something is shown; one less than `offset` when nothing is. */
  readonly last: number;
  /** Where to go on; null at the end of the file. */
  readonly next: { readonly offset: number; readonly column: number } | null;
  /** Lines in all; null where counting them would mean reading a very large file to its end. */
  readonly lines: number | null;
}

export type LinesRead = Slice | { readonly kind: "binary"; readonly head: Uint8Array };

const CHUNK = 1 << 18;
const SNIFFED = 8192;
const COUNTED_TO = 32 << 20;

export async function readLines(file: FileHandle, range: LineRange): Promise<LinesRead> {
  const buffer = Buffer.allocUnsafe(CHUNK);
  const decoder = new TextDecoder("utf-8");
  const reader = lineReader(range);
  for (let position = 0; ; ) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK, position);
    const bytes = buffer.subarray(0, bytesRead);
    if (position === 0 && isBinary(bytes)) return { kind: "binary", head: Uint8Array.from(bytes.subarray(0, 64)) };
    position += bytesRead;
    reader.take(decoder.decode(bytes, { stream: bytesRead > 0 }));
    if (bytesRead === 0) return { kind: "text", ...reader.result("whole") };
    if (reader.full() && position > COUNTED_TO) return { kind: "text", ...reader.result("part") };
  }
}

/** Text holds no null bytes; one near the start is how a binary file is known. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, SNIFFED).includes(0);
}

function lineReader({ offset, column, limit, maxChars }: LineRange) {
  const shortLines: string[] = [];
  let size = 0;
  let line = 1;
  let at = 1;
  let last = offset - 1;
  let next: Slice["next"] = null;
  let full = false;

  /** Keeps what is wanted of a piece that lies within one line, its newline included. */
  const keep = (piece: string): void => {
    if (full || line < offset || piece === "") return;
    const skipped = line === offset ? Math.max(0, column - at) : 0;
    const wanted = piece.slice(skipped);
    if (wanted === "") return;
    const room = line < offset + limit ? fitting(wanted, maxChars - size) : 0;
    if (room > 0) {
      shortLines.push(wanted.slice(0, room));
      size += room;
      last = line;
    }
    if (room < wanted.length) stop(line, at + skipped + room);
  };
  const stop = (stoppedLine: number, stoppedAt: number): void => {
    full = true;
    next = { offset: stoppedLine, column: stoppedAt };
  };
  return {
    full: () => full,
    take(text: string): void {
      for (let start = 0; start < text.length; ) {
        const end = text.indexOf("\n", start);
        const piece = end === -1 ? text.slice(start) : text.slice(start, end + 1);
        keep(piece);
        start += piece.length;
        at += piece.length;
        if (end !== -1) [line, at] = [line + 1, 1];
      }
    },
    result(read: "whole" | "part"): Omit<Slice, "kind"> {
      const lines = at === 1 ? line - 1 : line;
      return { text: shortLines.join(""), last, next, lines: read === "whole" ? lines : null };
    },
  };
}

/** How much of the text fits without parting a surrogate pair. */
function fitting(text: string, room: number): number {
  if (text.length <= room) return text.length;
  const code = text.charCodeAt(room - 1);
  return code >= 0xd800 && code <= 0xdbff ? room - 1 : room;
}

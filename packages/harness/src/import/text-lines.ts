/**
 * Turns a file's bytes into text, line by line, and says where bytes are not UTF-8. Decides whether the file is one JSON
 * document or JSON lines. A byte order mark at the start is skipped; nothing else is changed.
 */
import { isUtf8 } from "node:buffer";

export interface TextLine {
  readonly number: number;
  readonly text: string;
  /** Offset in the line, counted from 1, of the first byte that is not UTF-8. */
  readonly badByte: number | null;
  /** Where the line ends in the file, in bytes. */
  readonly end: number;
}

export type Layout = "document" | "lines";

export function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** Lines that hold more than white space. */
export function* textLines(bytes: Buffer): Generator<TextLine> {
  let number = 0;
  for (let start = 0; start < bytes.length; ) {
    const lineEnd = bytes.indexOf(0x0a, start);
    const end = lineEnd === -1 ? bytes.length : lineEnd;
    number += 1;
    const line = decode(bytes.subarray(start, end), number, end);
    if (line.badByte !== null || line.text !== "") yield line;
    start = end + 1;
  }
}

/** JSON lines begin with a line that is JSON by itself; anything else that parses as a whole is one document. */
export function layoutOf(bytes: Buffer): Layout {
  const lines = textLines(bytes);
  const first = lines.next().value;
  if (first === undefined || first.badByte !== null) return "lines";
  if (first.text.startsWith("[")) return "document";
  if (isJson(first.text)) return "lines";
  const second = lines.next().value;
  if (second === undefined) return "lines";
  return second.text.startsWith("{") && isJson(second.text) ? "lines" : "document";
}

export function decode(bytes: Buffer, number: number, end: number): TextLine {
  if (isUtf8(bytes)) return { number, text: bytes.toString("utf8").trim(), badByte: null, end };
  return { number, text: "", badByte: firstBadByte(bytes), end };
}

/** Where the lenient decoder puts a replacement mark that the bytes themselves don't spell. */
function firstBadByte(bytes: Buffer): number {
  const text = bytes.toString("utf8");
  const mark = Buffer.from("\ufffd");
  let offset = 0;
  for (let from = 0; ; ) {
    const position = text.indexOf("\ufffd", from);
    if (position === -1) return offset + 1;
    offset += Buffer.byteLength(text.slice(from, position));
    if (!bytes.subarray(offset, offset + 3).equals(mark)) return offset + 1;
    offset += 3;
    from = position + 1;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * What is counted without reading all of it, or piece by piece: images and long texts. An image's tokens follow from its
 * provider's published size rule and the real dimensions in the file's header. Only as much base64 is decoded as the header
 * needs. Broken, unknown and linked images count as a fixed, rather high default: an image is never free and never an error.
 */
import type { ImagePart } from "../message/shape.ts";

export type ImageRule = "openai" | "openai-low" | "anthropic" | "google";

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** What an image of unknown dimensions is taken for: about the most the rule charges for an ordinary one. */
const UNKNOWN: Readonly<Record<ImageRule, number>> = {
  openai: 1445,
  "openai-low": 85,
  anthropic: 1600,
  google: 1548,
};

export function imageTokens(image: ImagePart, rule: ImageRule): number {
  const size = imageSize(image);
  return size === undefined ? UNKNOWN[rule] : sizeTokens(size, rule);
}

export function sizeTokens(size: Size, rule: ImageRule): number {
  switch (rule) {
    case "openai-low":
      return 85;
    case "openai":
      return openaiTokens(size);
    case "anthropic": {
      const { width, height } = within(size, 1568);
      return Math.max(1, Math.min(1600, Math.ceil((width * height) / 750)));
    }
    case "google":
      return size.width <= 384 && size.height <= 384 ? 258 : 258 * tiles(size, 768);
  }
}

/** The dimensions in the header, or undefined when there are none to be found. */
export function imageSize(image: ImagePart): Size | undefined {
  const { source } = image;
  const base64 = source.kind === "base64" ? source.data : dataUrl(source.url);
  if (base64 === undefined) return undefined;
  const size = png(base64) ?? gif(base64) ?? webp(base64) ?? jpeg(base64);
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

/** Fit into 2048 x 2048, then the short side to 768, then 512-pixel tiles. */
function openaiTokens(size: Size): number {
  const fitted = within(size, 2048);
  const short = Math.min(fitted.width, fitted.height);
  const scale = short > 768 ? 768 / short : 1;
  return 85 + 170 * tiles({ width: fitted.width * scale, height: fitted.height * scale }, 512);
}

function within(size: Size, edge: number): Size {
  const scale = Math.min(1, edge / Math.max(size.width, size.height));
  return { width: size.width * scale, height: size.height * scale };
}

function tiles(size: Size, edge: number): number {
  // Scaling leaves 512.0000001 where 512 is meant.
  const along = (length: number) => Math.max(1, Math.ceil(length / edge - 1e-9));
  return along(size.width) * along(size.height);
}

function dataUrl(url: string): string | undefined {
  const comma = url.startsWith("data:") ? url.indexOf(";base64,") : -1;
  return comma < 0 ? undefined : url.slice(comma + ";base64,".length);
}

function png(base64: string): Size | undefined {
  const head = decode(base64, 0, 24);
  if (head === undefined || !starts(head, [0x89, 0x50, 0x4e, 0x47])) return undefined;
  return { width: uint32(head, 16), height: uint32(head, 20) };
}

function gif(base64: string): Size | undefined {
  const head = decode(base64, 0, 10);
  if (head === undefined || !starts(head, [0x47, 0x49, 0x46, 0x38])) return undefined;
  return { width: head[6]! | (head[7]! << 8), height: head[8]! | (head[9]! << 8) };
}

/** Three kinds of WebP: lossy (a VP8 frame header), lossless (14 bits each), extended (24 bits each, minus one). */
function webp(base64: string): Size | undefined {
  const head = decode(base64, 0, 30);
  if (head === undefined || !starts(head, [0x52, 0x49, 0x46, 0x46]) || head[8] !== 0x57) return undefined;
  const kind = String.fromCharCode(head[12]!, head[13]!, head[14]!, head[15]!);
  if (kind === "VP8 ") {
    return { width: (head[26]! | (head[27]! << 8)) & 0x3fff, height: (head[28]! | (head[29]! << 8)) & 0x3fff };
  }
  if (kind === "VP8L") {
    const bits = (head[21]! | (head[22]! << 8) | (head[23]! << 16) | (head[24]! << 24)) >>> 0;
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (kind !== "VP8X") return undefined;
  const uint24 = (at: number) => head[at]! | (head[at + 1]! << 8) | (head[at + 2]! << 16);
  return { width: uint24(24) + 1, height: uint24(27) + 1 };
}

/** Walks the segments to the frame header; a broken chain, or one longer than any real header, ends the search. */
function jpeg(base64: string): Size | undefined {
  const start = decode(base64, 0, 2);
  if (start === undefined || !starts(start, [0xff, 0xd8])) return undefined;
  let at = 2;
  for (let segment = 0; segment < 1000; segment += 1) {
    const head = decode(base64, at, 9);
    if (head === undefined || head[0] !== 0xff) return undefined;
    const marker = head[1]!;
    if (marker === 0xff) {
      at += 1;
    } else if (isFrame(marker)) {
      return { height: (head[5]! << 8) | head[6]!, width: (head[7]! << 8) | head[8]! };
    } else if (marker === 0xd9 || marker === 0xda) {
      return undefined;
    } else {
      at += marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7) ? 2 : 2 + Math.max(2, (head[2]! << 8) | head[3]!);
    }
  }
  return undefined;
}

/** SOF0 to SOF15 without the three markers of that range that define tables. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function starts(bytes: readonly number[], magic: readonly number[]): boolean {
  return magic.every((byte, index) => bytes[index] === byte);
}

function uint32(bytes: readonly number[], at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}

/** `length` bytes from byte `from`, or undefined when the text ends before or isn't base64 there. */
function decode(base64: string, from: number, length: number): number[] | undefined {
  const first = Math.floor(from / 3);
  const bytes: number[] = [];
  for (let group = first; bytes.length < from - first * 3 + length; group += 1) {
    const digits = [0, 1, 2, 3].map((offset) => digit(base64.charCodeAt(group * 4 + offset)));
    const [a, b, c, d] = digits as [number, number, number, number];
    if (a < 0 || b < 0) return undefined;
    bytes.push((a << 2) | (b >> 4));
    if (c < 0) break;
    bytes.push(((b & 15) << 4) | (c >> 2));
    if (d < 0) break;
    bytes.push(((c & 3) << 6) | d);
  }
  const wanted = bytes.slice(from - first * 3, from - first * 3 + length);
  return wanted.length === length ? wanted : undefined;
}

/** The value of one base64 or base64url digit; -1 for padding, the end of the text and everything else. */
function digit(code: number): number {
  if (code >= 65 && code <= 90) return code - 65;
  if (code >= 97 && code <= 122) return code - 71;
  if (code >= 48 && code <= 57) return code + 4;
  if (code === 43 || code === 45) return 62;
  if (code === 47 || code === 95) return 63;
  return -1;
}

/*
 * A long text is counted piece by piece, all of it up to 128,000 characters; a longer one by samples spread over it, within
 * a few percent. A text of megabytes fills any window, so that more would only take time that others wait for.
 */

const SAMPLES = 64;
const SAMPLE = 2000;
const PIECE = 8000;

/** What is counted of a long text. */
export function piecesOf(text: string): readonly string[] {
  return text.length <= SAMPLES * SAMPLE ? cutBetweenWords(text) : samplesOf(text);
}

/** All of it. No token has a blank behind a letter, so words stay whole; text without blanks is cut anywhere. */
function cutBetweenWords(text: string): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    const end = from + PIECE;
    const blank = text.slice(end, end + PIECE).search(/(?<=\p{L}) (?=\p{L})/u);
    const to = end + Math.max(0, blank);
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

function samplesOf(text: string): string[] {
  const stride = (text.length - SAMPLE) / (SAMPLES - 1);
  return Array.from({ length: SAMPLES }, (_, index) => {
    const start = Math.floor(index * stride);
    return text.slice(start, start + SAMPLE);
  });
}

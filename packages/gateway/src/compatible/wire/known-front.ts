/**
 * Reads a request's body without parsing again what was parsed before. Where the conversation in its list begins with
 * bytes that are known, only the rest of the body is parsed, with `null` in their place: the body is JSON exactly if that
 * is, because both leave a parser behind one item of a list. Whatever is in doubt is not known. Pure.
 */
import { AT_ONCE } from "../../http/read-json.ts";
import type { Fields } from "../vendor.ts";
import { pastSpace, type Span, stringEnd, valueEnd } from "./raw-json.ts";

/** Items of a list that were parsed before, and the bytes they were parsed from: from the first item's to the last one's. */
export interface Front {
  readonly bytes: Buffer;
  readonly items: readonly unknown[];
}

export interface BodyWithFront<F extends Front> {
  readonly body: Fields;
  readonly front: F;
  /** Where the front stands: items of the list before it, and the whole conversation's bytes. */
  readonly leading: number;
  readonly conversation: Span;
}

export interface KnownFronts<F extends Front> {
  /** The body's field with the list. */
  readonly field: string;
  readonly fronts: readonly F[];
  /** Of an item before the conversation: it may change from request to request. */
  readonly isLeading: (item: unknown) => boolean;
}

/** Null: no front is known, or something is unusual; then the body has to be read as a whole. */
export function readKnown<F extends Front>(bytes: Buffer, given: KnownFronts<F>): BodyWithFront<F> | null {
  try {
    const place = frontPlace(bytes, given);
    return place === null ? null : bodyAround(bytes, place, given.field);
  } catch {
    return null;
  }
}

/**
 * The bytes of the items behind the leading ones, without the brackets and what stands beside them. Null: there is no
 * such list, it is there twice, or its last item is no object. `bytes` is JSON.
 */
export function conversationSpan(bytes: Buffer, field: string, leading: number): Span | null {
  const starts = [...fieldStarts(bytes)].filter(({ name }) => name === field);
  const list = starts.length === 1 ? starts[0]!.start : null;
  if (list === null || bytes[list] !== OPEN_BRACKET) return null;
  let start = pastSpace(bytes, list + 1);
  for (let passed = 0; passed < leading; passed += 1) {
    const comma = pastSpace(bytes, valueEnd(bytes, start));
    if (bytes[comma] !== COMMA) return null;
    start = pastSpace(bytes, comma + 1);
  }
  const end = beforeSpace(bytes, valueEnd(bytes, list) - 1);
  return bytes[start] === OPEN_BRACE && bytes[end - 1] === CLOSE_BRACE && start < end ? { start, end } : null;
}

interface FrontPlace<F> {
  readonly front: F;
  readonly at: number;
  readonly leading: number;
}

function frontPlace<F extends Front>(
  bytes: Buffer,
  { field, fronts, isLeading }: KnownFronts<F>,
): FrontPlace<F> | null {
  const list = listStart(bytes, field);
  if (list === null || fronts.length === 0) return null;
  let at = pastSpace(bytes, list + 1);
  for (let leading = 0; bytes[at] === OPEN_BRACE; leading += 1) {
    const standing = fronts.filter((front) => stands(front.bytes, bytes, at));
    if (standing.length > 0) {
      const front = standing.reduce((longest, one) => (one.bytes.length > longest.bytes.length ? one : longest));
      return { front, at, leading };
    }
    const end = valueEnd(bytes, at);
    if (!isLeading(JSON.parse(bytes.toString("utf8", at, end)))) return null;
    const comma = pastSpace(bytes, end);
    if (bytes[comma] !== COMMA) return null;
    at = pastSpace(bytes, comma + 1);
  }
  return null;
}

function bodyAround<F extends Front>(
  bytes: Buffer,
  { front, at, leading }: FrontPlace<F>,
  field: string,
): BodyWithFront<F> | null {
  const rest = Buffer.concat([bytes.subarray(0, at), NULL, bytes.subarray(at + front.bytes.length)]);
  // More than is parsed at once: reading the whole body gives others their turns.
  if (rest.length > AT_ONCE) return null;
  const body: Record<string, unknown> = JSON.parse(rest.toString());
  // A list that stands there twice is the second one.
  if ([...fieldStarts(rest)].filter(({ name }) => name === field).length !== 1) return null;
  const list = body[field];
  if (!Array.isArray(list) || list[leading] !== null) return null;
  body[field] = list.slice(0, leading).concat(front.items, list.slice(leading + 1));
  const shift = front.bytes.length - NULL.length;
  const end = beforeSpace(rest, valueEnd(rest, listStart(rest, field)!) - 1) + shift;
  return { body, front, leading, conversation: { start: at, end } };
}

const NULL = Buffer.from("null");

function stands(front: Buffer, bytes: Buffer, at: number): boolean {
  return bytes.length - at > front.length && bytes.compare(front, 0, front.length, at, at + front.length) === 0;
}

function listStart(bytes: Buffer, field: string): number | null {
  for (const { name, start } of fieldStarts(bytes))
    if (name === field) return bytes[start] === OPEN_BRACKET ? start : null;
  return null;
}

/** The object's own fields in their order, each as often as it stands; a value is passed over when the next one is asked for. */
function* fieldStarts(bytes: Buffer): Generator<{ readonly name: string; readonly start: number }> {
  let at = pastSpace(bytes, 0);
  if (bytes[at] !== OPEN_BRACE) return;
  at = pastSpace(bytes, at + 1);
  while (bytes[at] === QUOTE) {
    const nameEnd = stringEnd(bytes, at);
    const name = JSON.parse(bytes.toString("utf8", at, nameEnd)) as string;
    // Past the colon.
    const start = pastSpace(bytes, pastSpace(bytes, nameEnd) + 1);
    yield { name, start };
    at = pastSpace(bytes, valueEnd(bytes, start));
    if (bytes[at] === COMMA) at = pastSpace(bytes, at + 1);
  }
}

function beforeSpace(bytes: Buffer, end: number): number {
  let at = end;
  while (at > 0 && pastSpace(bytes, at - 1) > at - 1) at -= 1;
  return at;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * How a term's places in one block are spelled: two digits of base 64 for the entry, and its weight where that isn't 1:
 * a sign from `!` on for 2, 3, ..., or hundredths between `:` and `;`. `0c0e"0g:150;` says entry 38 with weight 1,
 * entry 40 with weight 3, entry 42 with weight 1.5. Text, because appending to it is one concatenation in every engine.
 * What will not be appended to, such as the list of merged blocks, is spelled as `@` and distances from place to place: one digit
 * for the near ones, up to three. Merged lists of before stand one behind the other, each after `|` and one digit for its block.
 */
import type { NewPosting } from "./search-tables.ts";

/** Collects the postings of entries, in ascending ordinal. */
export function postingWriter(blockSize: number) {
  const blocks = new Map<number, Map<string, { term: string; block: number; count: number; list: string }>>();
  return {
    add(ordinal: number, terms: ReadonlyMap<string, number>): void {
      const block = Math.floor(ordinal / blockSize);
      const place = spellPlace(ordinal % blockSize);
      const rows = blocks.get(block) ?? new Map();
      blocks.set(block, rows);
      for (const [term, weight] of terms) {
        const spelled = weight === 1 ? place : place + spellWeight(Math.round(weight * 100));
        const row = rows.get(term);
        if (row === undefined) rows.set(term, { term, block, count: 1, list: spelled });
        else {
          row.count += 1;
          row.list += spelled;
        }
      }
    },
    /** In key order: rows that lie side by side are written side by side. Blocks were begun in theirs. */
    rows: (): NewPosting[] => [...blocks.values()].flatMap((rows) => [...rows.values()].sort(byTerm)),
  };
}

/** The same for a part: blocks from `first` on that are written as one. */
export function partWriter(blockSize: number, first: number) {
  const terms = new Map<string, DistanceList>();
  return {
    add(ordinal: number, weights: ReadonlyMap<string, number>): void {
      for (const [term, weight] of weights) listIn(terms, term).add(ordinal - first * blockSize, weight);
    },
    /** Where the part isn't full: its blocks one by one, to be appended to. */
    rows(): NewPosting[] {
      const single = postingWriter(blockSize);
      for (const [term, list] of terms)
        readPostings(list.text(), blockSize, (offset, weight) =>
          single.add(first * blockSize + offset, new Map([[term, weight]])),
        );
      return single.rows().sort((a, b) => a.block - b.block);
    },
    merged: (): MergedPosting[] => mergedPostings(terms),
  };
}

/** A term's places in all of a part. */
export type MergedPosting = Pick<NewPosting, "term" | "count" | "list">;

/** In key order. */
export function mergedPostings(terms: ReadonlyMap<string, DistanceList>): MergedPosting[] {
  return [...terms].map(([term, own]) => ({ term, count: own.count, list: own.text() })).sort(byTerm);
}

export function listIn(terms: Map<string, DistanceList>, term: string): DistanceList {
  let list = terms.get(term);
  if (list === undefined) {
    list = new DistanceList();
    terms.set(term, list);
  }
  return list;
}

const byTerm = (a: MergedPosting, b: MergedPosting) => (a.term < b.term ? -1 : 1);

/** 64 of them in the order of their codes, none of them a sign that tells a weight. */
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~";
const [COLON, AT, BAR, FIRST_SIGN, SIGNS] = [58, 64, 124, 33, 15] as const;

const VALUES = new Uint8Array(128);
for (let digit = 0; digit < DIGITS.length; digit += 1) VALUES[DIGITS.charCodeAt(digit)] = digit;

function spellPlace(offset: number): string {
  return DIGITS[offset >> 6]! + DIGITS[offset & 63]!;
}

function spellWeight(hundredths: number): string {
  if (hundredths === 100) return "";
  const whole = hundredths / 100;
  if (Number.isInteger(whole) && whole >= 2 && whole < 2 + SIGNS) return String.fromCharCode(FIRST_SIGN + whole - 2);
  return `:${hundredths};`;
}

/** A whole number in digits of base 64, the highest first. */
export function spellNumber(value: number): string {
  const rest = Math.floor(value / 64);
  return (rest > 0 ? spellNumber(rest) : "") + DIGITS[value % 64]!;
}

export function readNumber(text: string, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at += 1) value = value * 64 + VALUES[text.charCodeAt(at)]!;
  return value;
}

/** The places of a term in ascending order, as distances. Numbers until they are asked for: of a part there are very many. */
export class DistanceList {
  /** Each is the place and, below it, hundredths of the weight. */
  readonly #places: number[] = [];

  get count(): number {
    return this.#places.length;
  }

  add(place: number, weight: number): void {
    this.#places.push(place * WEIGHTS + Math.round(weight * 100));
  }

  text(): string {
    let [text, last] = [this.count === 0 ? "" : "@", -1];
    for (const value of this.#places) {
      const place = Math.floor(value / WEIGHTS);
      text += spellDistance(place - last - 1) + spellWeight(value % WEIGHTS);
      last = place;
    }
    return text;
  }
}

const WEIGHTS = 2 ** 32;

/** Below the first it is one digit, below the second two. */
const [TWO_DIGITS, THREE_DIGITS] = [40, 60] as const;
const NEAR = TWO_DIGITS + 64 * (THREE_DIGITS - TWO_DIGITS);

function spellDistance(distance: number): string {
  if (distance < TWO_DIGITS) return DIGITS[distance]!;
  if (distance >= NEAR) {
    const far = distance - NEAR;
    return DIGITS[THREE_DIGITS + (far >> 12)]! + spellPlace(far & 4095);
  }
  const middle = distance - TWO_DIGITS;
  return DIGITS[TWO_DIGITS + (middle >> 6)]! + DIGITS[middle & 63]!;
}

/** A list of several blocks as one list for each, by the number of the block. */
export function listsByBlock(list: string, blockSize: number): Map<number, DistanceList> {
  const lists = new Map<number, DistanceList>();
  readPostings(list, blockSize, (offset, weight) => {
    const block = Math.floor(offset / blockSize);
    const own = lists.get(block) ?? new DistanceList();
    lists.set(block, own);
    own.add(offset % blockSize, weight);
  });
  return lists;
}

/** What stands before a block's list where blocks were merged before distances were spelled. */
export function blockMark(block: number): string {
  return `|${DIGITS[block]!}`;
}

/** One block's list out of a merged one; empty when it has none. */
export function listOfBlock(merged: string, block: number, blockSize: number): string {
  if (isDistances(merged)) return listsByBlock(merged, blockSize).get(block)?.text() ?? "";
  const start = merged.indexOf(blockMark(block));
  if (start < 0) return "";
  const end = merged.indexOf("|", start + 1);
  return merged.slice(start + 2, end < 0 ? undefined : end);
}

/** The list without the entry at one place of its block or blocks; the very same text when it doesn't hold it. */
export function withoutEntry(list: string, wanted: number, blockSize: number): string {
  if (isDistances(list)) return distancesWithout(list, wanted);
  if (!list.startsWith("|")) return withoutPlace(list, wanted);
  const block = Math.floor(wanted / blockSize);
  const before = listOfBlock(list, block, blockSize);
  const after = withoutPlace(before, wanted % blockSize);
  const mark = blockMark(block);
  return before === after ? list : list.replace(mark + before, after === "" ? "" : mark + after);
}

function distancesWithout(list: string, wanted: number): string {
  const left = new DistanceList();
  readPostings(list, 0, (offset, weight) => {
    if (offset !== wanted) left.add(offset, weight);
  });
  return left.text();
}

function withoutPlace(list: string, wanted: number): string {
  let left = "";
  readPostings(list, 0, (offset, weight) => {
    if (offset !== wanted) left += spellPlace(offset) + spellWeight(Math.round(weight * 100));
  });
  return left;
}

/** Calls back with each place in the block or blocks, ascending, and its weight. `start` is where the list's own begin. */
export function readPostings(
  list: string,
  blockSize: number,
  each: (offset: number, weight: number) => void,
  start = 0,
): void {
  const distances = isDistances(list);
  let first = start;
  let offset = start - 1;
  for (let at = distances ? 1 : 0; at < list.length; ) {
    const sign = list.charCodeAt(at);
    const digit = VALUES[sign]!;
    if (distances) {
      if (digit < TWO_DIGITS) {
        offset += digit + 1;
        at += 1;
      } else if (digit < THREE_DIGITS) {
        offset += TWO_DIGITS + (digit - TWO_DIGITS) * 64 + VALUES[list.charCodeAt(at + 1)]! + 1;
        at += 2;
      } else {
        const far = VALUES[list.charCodeAt(at + 1)]! * 64 + VALUES[list.charCodeAt(at + 2)]!;
        offset += NEAR + (digit - THREE_DIGITS) * 4096 + far + 1;
        at += 3;
      }
    } else if (sign === BAR) {
      first = VALUES[list.charCodeAt(at + 1)]! * blockSize;
      at += 2;
      continue;
    } else {
      offset = first + digit * 64 + VALUES[list.charCodeAt(at + 1)]!;
      at += 2;
    }
    const next = at < list.length ? list.charCodeAt(at) : 0;
    if (next === COLON) {
      const end = list.indexOf(";", at);
      each(offset, Number(list.slice(at + 1, end)) / 100);
      at = end + 1;
    } else if (next >= FIRST_SIGN && next < FIRST_SIGN + SIGNS) {
      each(offset, next - FIRST_SIGN + 2);
      at += 1;
    } else each(offset, 1);
  }
}

function isDistances(list: string): boolean {
  return list.charCodeAt(0) === AT;
}

/**
 * How a term's places in one block are spelled: two digits of base 64 for the entry, and its weight where that isn't 1:
 * a sign from `!` on for 2, 3, ..., or hundredths between `:` and `;`. `0c0e"0g:150;` says entry 38 with weight 1,
 * entry 40 with weight 3, entry 42 with weight 1.5. Text, because appending to it is one concatenation in every engine.
 * Of a long message follow the passages that hold the term: one of ten signs for a single one of the first ten, else `=` and two digits of bits.
 * Where it stands once in each of several passages, its weight is their number and isn't spelled.
 * What will not be appended to, such as the list of merged blocks, is spelled as `@` and distances from place to place: one digit
 * for the near ones, up to three. Merged lists of before stand one behind the other, each after `|` and one digit for its block.
 */
import { countOf } from "@palimpsest/core/internal/recall";
import type { NewPosting } from "./search-tables.ts";

/** Collects the postings of entries, in ascending ordinal. */
export function postingWriter(blockSize: number) {
  const blocks = new Map<number, Map<string, { term: string; block: number; count: number; list: string }>>();
  let size = 0;
  return {
    /** How many rows it has come to. */
    get size(): number {
      return size;
    },
    add(ordinal: number, terms: ReadonlyMap<string, number>, passages?: ReadonlyMap<string, number>): void {
      const block = Math.floor(ordinal / blockSize);
      const place = spellPlace(ordinal % blockSize);
      const rows = blocks.get(block) ?? new Map();
      blocks.set(block, rows);
      for (const [term, weight] of terms) {
        const bits = passages?.get(term) ?? 0;
        const spelled = weight === 1 && bits === 0 ? place : place + spellValue(Math.round(weight * 100), bits);
        const row = rows.get(term);
        if (row === undefined) {
          rows.set(term, { term, block, count: 1, list: spelled });
          size += 1;
        } else {
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
  const lists = new PlaceLists();
  return {
    get size(): number {
      return lists.size;
    },
    add(ordinal: number, weights: ReadonlyMap<string, number>, passages?: ReadonlyMap<string, number>): void {
      for (const [term, weight] of weights)
        lists.add(term, ordinal - first * blockSize, weight, passages?.get(term) ?? 0);
    },
    /** Where the part isn't full: its blocks one by one, to be appended to. */
    rows(): NewPosting[] {
      const single = postingWriter(blockSize);
      for (const { term, list } of lists.merged())
        readPostings(list, blockSize, (offset, weight, passages) =>
          single.add(first * blockSize + offset, new Map([[term, weight]]), new Map([[term, passages]])),
        );
      return single.rows().sort((a, b) => a.block - b.block);
    },
    merged: (): MergedPosting[] => lists.merged(),
  };
}

/** A term's places in all of a part. */
export type MergedPosting = Pick<NewPosting, "term" | "count" | "list">;

/**
 * The places of many terms, ascending for each. Of a part there are very many: they stand in the order they came in, side by
 * side as numbers, until their texts are asked for.
 */
export class PlaceLists {
  readonly #ids = new Map<string, number>();
  #size = 0;
  /** Of each place the term, and the place with its weight. */
  #terms = new Uint32Array(4096);
  #places = new Float64Array(4096);

  add(term: string, place: number, weight: number, passages = 0): void {
    let id = this.#ids.get(term);
    if (id === undefined) {
      id = this.#ids.size;
      this.#ids.set(term, id);
    }
    if (this.#size === this.#terms.length) this.#grow();
    this.#terms[this.#size] = id;
    this.#places[this.#size] = withWeight(place, weight, passages);
    this.#size += 1;
  }

  /** How many terms there are. */
  get size(): number {
    return this.#ids.size;
  }

  /** In key order. */
  merged(): MergedPosting[] {
    const ends = this.#ends();
    const places = new Float64Array(this.#size);
    // From the last one on, each before those that are there.
    const starts = ends.slice();
    for (let at = this.#size - 1; at >= 0; at -= 1) {
      const id = this.#terms[at]!;
      starts[id] = starts[id]! - 1;
      places[starts[id]!] = this.#places[at]!;
    }
    return [...this.#ids.keys()].sort().map((term) => {
      const id = this.#ids.get(term)!;
      const [start, end] = [starts[id]!, ends[id]!];
      return { term, count: end - start, list: spellDistances(places, start, end) };
    });
  }

  /** Where each term's places end when they stand term by term. */
  #ends(): Uint32Array {
    const ends = new Uint32Array(this.#ids.size);
    for (let at = 0; at < this.#size; at += 1) ends[this.#terms[at]!]! += 1;
    for (let id = 1; id < ends.length; id += 1) ends[id]! += ends[id - 1]!;
    return ends;
  }

  #grow(): void {
    const [terms, places] = [this.#terms, this.#places];
    this.#terms = new Uint32Array(2 * this.#size);
    this.#terms.set(terms);
    this.#places = new Float64Array(2 * this.#size);
    this.#places.set(places);
  }
}

const byTerm = (a: MergedPosting, b: MergedPosting) => (a.term < b.term ? -1 : 1);

/** 64 of them in the order of their codes, none of them a sign that tells a weight. */
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~";
const [COLON, AT, BAR, FIRST_SIGN, SIGNS] = [58, 64, 124, 33, 15] as const;

const VALUES = new Uint8Array(128);
const CODES = Uint8Array.from(DIGITS, (digit) => digit.charCodeAt(0));
for (const [digit, code] of CODES.entries()) VALUES[code] = digit;

/**
 * Signs of which one stands in each list of a block that holds an entry from one place to another: a digit and those that may follow it,
 * as a class that SQLite's GLOB and PostgreSQL's regular expressions read alike. Other lists may have one, too.
 */
export function signsOf(first: number, last: number): string[] {
  const signs: string[] = [];
  for (let high = first >> 6; high <= last >> 6; high += 1) {
    const [low, most] = [Math.max(first - 64 * high, 0), Math.min(last - 64 * high, 63)];
    signs.push(`${DIGITS[high]!}[${DIGITS[low]!}-${DIGITS[most]!}]`);
  }
  return signs;
}

function spellPlace(offset: number): string {
  return DIGITS[offset >> 6]! + DIGITS[offset & 63]!;
}

function spellWeight(hundredths: number): string {
  if (hundredths === 100) return "";
  const whole = hundredths / 100;
  if (Number.isInteger(whole) && whole >= 2 && whole < 2 + SIGNS) return String.fromCharCode(FIRST_SIGN + whole - 2);
  return `:${hundredths};`;
}

function spellValue(hundredths: number, passages: number): string {
  if (passages === 0) return spellWeight(hundredths);
  const sign = (passages & (passages - 1)) === 0 ? ONE_PASSAGE[31 - Math.clz32(passages)] : undefined;
  if (sign !== undefined) return spellWeight(hundredths) + sign;
  const count = 100 * countOf(passages);
  const weight = hundredths === count ? "" : hundredths === 100 ? ":100;" : spellWeight(hundredths);
  return `${weight}=${spellNumber(passages).padStart(PASSAGE_DIGITS, "0")}`;
}

/** No digits, and no signs that tell a weight or a block. */
const ONE_PASSAGE = "<>?[]^`{}\\";
const [PASSAGES, PASSAGE_DIGITS] = [61, 2] as const;
/** By the code of a sign: the one passage it tells. */
const PASSAGE_OF = new Uint16Array(128);
for (const [passage, sign] of [...ONE_PASSAGE].entries()) PASSAGE_OF[sign.charCodeAt(0)] = 1 << passage;

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

/** The places of one term in ascending order, as distances. */
export class DistanceList {
  readonly #places: number[] = [];

  get count(): number {
    return this.#places.length;
  }

  add(place: number, weight: number, passages = 0): void {
    this.#places.push(withWeight(place, weight, passages));
  }

  text(): string {
    return spellDistances(this.#places, 0, this.count);
  }
}

/** A place and, below it, passages and hundredths of the weight. */
function withWeight(place: number, weight: number, passages: number): number {
  return place * VALUES_EACH + passages * WEIGHTS + Math.round(weight * 100);
}

const WEIGHTS = 2 ** 18;
const VALUES_EACH = WEIGHTS * 2 ** 18;

/** Below the first it is one digit, below the second two. */
const [TWO_DIGITS, THREE_DIGITS] = [40, 60] as const;
const NEAR = TWO_DIGITS + 64 * (THREE_DIGITS - TWO_DIGITS);

/** Some of the places, each with its weight. */
function spellDistances(places: ArrayLike<number>, start: number, end: number): string {
  if (start === end) return "";
  if (spelled.length < 1 + (end - start) * LONGEST_PLACE) spelled = Buffer.alloc(2 * (end - start) * LONGEST_PLACE);
  spelled[0] = AT;
  let [length, last] = [1, -1];
  for (let at = start; at < end; at += 1) {
    const place = Math.floor(places[at]! / VALUES_EACH);
    const value = places[at]! - place * VALUES_EACH;
    length = writeDistance(place - last - 1, length);
    if (value !== 100)
      length += spelled.write(spellValue(value % WEIGHTS, Math.floor(value / WEIGHTS)), length, "latin1");
    last = place;
  }
  return spelled.toString("latin1", 0, length);
}

/** Three digits of the distance, hundredths up to 2 to the power of 18 between their marks, and passages. */
const LONGEST_PLACE = 16;
let spelled = Buffer.alloc(1024 * LONGEST_PLACE);

/** Where the next may be written. */
function writeDistance(distance: number, at: number): number {
  if (distance < TWO_DIGITS) {
    spelled[at] = CODES[distance]!;
    return at + 1;
  }
  if (distance < NEAR) {
    const middle = distance - TWO_DIGITS;
    spelled[at] = CODES[TWO_DIGITS + (middle >> 6)]!;
    spelled[at + 1] = CODES[middle & 63]!;
    return at + 2;
  }
  const far = distance - NEAR;
  spelled[at] = CODES[THREE_DIGITS + (far >> 12)]!;
  spelled[at + 1] = CODES[(far >> 6) & 63]!;
  spelled[at + 2] = CODES[far & 63]!;
  return at + 3;
}

/** A list of several blocks as one list for each, by the number of the block. */
export function listsByBlock(list: string, blockSize: number): Map<number, DistanceList> {
  const lists = new Map<number, DistanceList>();
  readPostings(list, blockSize, (offset, weight, passages) => {
    const block = Math.floor(offset / blockSize);
    const own = lists.get(block) ?? new DistanceList();
    lists.set(block, own);
    own.add(offset % blockSize, weight, passages);
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
  readPostings(list, 0, (offset, weight, passages) => {
    if (offset !== wanted) left.add(offset, weight, passages);
  });
  return left.text();
}

function withoutPlace(list: string, wanted: number): string {
  return withoutPlaces(list, wanted, wanted).list;
}

/** The list of a block without the entries from one place to another. */
export function withoutPlaces(list: string, first: number, last: number): { list: string; removed: number } {
  let [left, removed] = ["", 0];
  readPostings(list, 0, (offset, weight, passages) => {
    if (offset >= first && offset <= last) removed += 1;
    else left += spellPlace(offset) + spellValue(Math.round(weight * 100), passages);
  });
  return { list: left, removed };
}

/** Calls back with each place in the block or blocks, ascending, its weight and its passages. `start` is where the list's own begin. */
export function readPostings(
  list: string,
  blockSize: number,
  each: (offset: number, weight: number, passages: number) => void,
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
    let next = at < list.length ? list.charCodeAt(at) : 0;
    let weight = 0;
    if (next === COLON) {
      const end = list.indexOf(";", at);
      weight = Number(list.slice(at + 1, end)) / 100;
      at = end + 1;
      next = at < list.length ? list.charCodeAt(at) : 0;
    } else if (next >= FIRST_SIGN && next < FIRST_SIGN + SIGNS) {
      weight = next - FIRST_SIGN + 2;
      at += 1;
      next = at < list.length ? list.charCodeAt(at) : 0;
    }
    if (PASSAGE_OF[next] !== 0) {
      each(offset, weight || 1, PASSAGE_OF[next]!);
      at += 1;
    } else if (next === PASSAGES) {
      const passages = readNumber(list, at + 1, at + 1 + PASSAGE_DIGITS);
      each(offset, weight || countOf(passages), passages);
      at += 1 + PASSAGE_DIGITS;
    } else each(offset, weight || 1, 0);
  }
}

function isDistances(list: string): boolean {
  return list.charCodeAt(0) === AT;
}

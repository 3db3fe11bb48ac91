/**
 * How a term's places in one block are spelled: two digits of base 64 for the entry, and its weight where that isn't 1:
 * a sign from `!` on for 2, 3, ..., or hundredths between `:` and `;`. `0c0e"0g:150;` says entry 38 with weight 1,
 * entry 40 with weight 3, entry 42 with weight 1.5. Text, because appending to it is one concatenation in every engine.
 * Merged lists stand one behind the other, each after `|` and one digit for its block.
 */
import type { NewPosting } from "./search-tables.ts";

/** Collects the postings of entries, in ascending ordinal. */
export function postingWriter(blockSize: number) {
  const blocks = new Map<number, Map<string, { term: string; block: number; count: number; list: string }>>();
  const byTerm = (a: NewPosting, b: NewPosting) => (a.term < b.term ? -1 : 1);
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

/** 64 of them in the order of their codes, none of them a sign that tells a weight. */
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~";
const [COLON, BAR, FIRST_SIGN, SIGNS] = [58, 124, 33, 15] as const;

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

/** What stands before a block's list where blocks are merged. */
export function blockMark(block: number): string {
  return `|${DIGITS[block]!}`;
}

/** One block's list out of a merged one; empty when it has none. */
export function listOfBlock(merged: string, block: number): string {
  const start = merged.indexOf(blockMark(block));
  if (start < 0) return "";
  const end = merged.indexOf("|", start + 1);
  return merged.slice(start + 2, end < 0 ? undefined : end);
}

/** The list without the entry at one place of its block or blocks; the very same text when it doesn't hold it. */
export function withoutEntry(list: string, wanted: number, blockSize: number): string {
  if (!list.startsWith("|")) return withoutPlace(list, wanted);
  const block = Math.floor(wanted / blockSize);
  const before = listOfBlock(list, block);
  const after = withoutPlace(before, wanted % blockSize);
  const mark = blockMark(block);
  return before === after ? list : list.replace(mark + before, after === "" ? "" : mark + after);
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
  let first = start;
  for (let at = 0; at < list.length; ) {
    const sign = list.charCodeAt(at);
    if (sign === BAR) {
      first = VALUES[list.charCodeAt(at + 1)]! * blockSize;
      at += 2;
      continue;
    }
    const offset = first + VALUES[sign]! * 64 + VALUES[list.charCodeAt(at + 1)]!;
    at += 2;
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

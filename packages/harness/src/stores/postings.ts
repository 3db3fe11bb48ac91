/**
 * How a term's places in one block are spelled: two digits of base 64 for the entry, and its weight where that isn't 1:
 * a sign from `!` on for 2, 3, ..., or hundredths between `:` and `;`. `0c0e"0g:150;` says entry 38 with weight 1,
 * entry 40 with weight 3, entry 42 with weight 1.5. Text, because appending to it is one concatenation in every engine.
 */
import type { NewPosting } from "./search-tables.ts";

/** Collects the postings of entries, in ascending ordinal. */
export function postingWriter(blockSize: number) {
  const rows = new Map<string, { term: string; block: number; count: number; list: string }>();
  return {
    add(ordinal: number, terms: ReadonlyMap<string, number>): void {
      const block = Math.floor(ordinal / blockSize);
      const place = spellPlace(ordinal % blockSize);
      for (const [term, weight] of terms) {
        const key = `${block} ${term}`;
        const row = rows.get(key) ?? { term, block, count: 0, list: "" };
        rows.set(key, row);
        row.count += 1;
        row.list += place + spellWeight(Math.round(weight * 100));
      }
    },
    /** In key order: rows that lie side by side are written side by side. */
    rows: (): NewPosting[] => [...rows.values()].sort((a, b) => a.block - b.block || (a.term < b.term ? -1 : 1)),
  };
}

/** 64 of them in the order of their codes, none of them a sign that tells a weight. */
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~";
const [COLON, FIRST_SIGN, SIGNS] = [58, 33, 15] as const;

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

/** The list without the entry at one place of its block; the very same text when it doesn't hold it. */
export function withoutEntry(list: string, wanted: number): string {
  let left = "";
  readPostings(list, (offset, weight) => {
    if (offset !== wanted) left += spellPlace(offset) + spellWeight(Math.round(weight * 100));
  });
  return left;
}

/** Calls back with each place in the block, and its weight. */
export function readPostings(list: string, each: (offset: number, weight: number) => void): void {
  for (let at = 0; at < list.length; ) {
    const offset = VALUES[list.charCodeAt(at)]! * 64 + VALUES[list.charCodeAt(at + 1)]!;
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

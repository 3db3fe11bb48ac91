/**
 * How a term's places in one block are spelled: two hexadecimal digits for the entry, and its weight where that isn't 1:
 * a capital from `G` on for 2, 3, ..., or hundredths between `:` and `;`. `0c28H2a:150;` says entry 12 with weight 1,
 * entry 40 with weight 3, entry 42 with weight 1.5. Text, because appending to it is one concatenation in every engine.
 */
import { BLOCK_SIZE, type NewPosting } from "../stores/recall-tables.ts";

/** Collects the postings of entries, in ascending ordinal. */
export function postingWriter() {
  const rows = new Map<string, { term: string; block: number; count: number; list: string }>();
  return {
    add(ordinal: number, terms: ReadonlyMap<string, number>): void {
      const block = Math.floor(ordinal / BLOCK_SIZE);
      const place = (ordinal % BLOCK_SIZE).toString(16).padStart(2, "0");
      for (const [term, weight] of terms) {
        const key = `${block} ${term}`;
        const row = rows.get(key) ?? { term, block, count: 0, list: "" };
        rows.set(key, row);
        row.count += 1;
        row.list += place + spellWeight(Math.round(weight * 100));
      }
    },
    /** In key order: rows that lie side by side are written side by side. */
    rows: (): NewPosting[] =>
      [...rows.values()].sort((a, b) => (a.term < b.term ? -1 : a.term > b.term ? 1 : a.block - b.block)),
  };
}

function spellWeight(hundredths: number): string {
  if (hundredths === 100) return "";
  const whole = hundredths / 100;
  if (Number.isInteger(whole) && whole >= 2 && whole <= 21) return String.fromCharCode(LETTER_G + whole - 2);
  return `:${hundredths};`;
}

/** Calls back with each place in the block, and its weight. */
export function readPostings(list: string, each: (offset: number, weight: number) => void): void {
  for (let at = 0; at < list.length; ) {
    const offset = digit(list.charCodeAt(at)) * 16 + digit(list.charCodeAt(at + 1));
    at += 2;
    const next = at < list.length ? list.charCodeAt(at) : 0;
    if (next === COLON) {
      const end = list.indexOf(";", at);
      each(offset, Number(list.slice(at + 1, end)) / 100);
      at = end + 1;
    } else if (next >= LETTER_G && next < SMALL_A) {
      each(offset, next - LETTER_G + 2);
      at += 1;
    } else each(offset, 1);
  }
}

const [ZERO, COLON, LETTER_G, SMALL_A] = [48, 58, 71, 97] as const;

function digit(code: number): number {
  return code >= SMALL_A ? code - SMALL_A + 10 : code - ZERO;
}

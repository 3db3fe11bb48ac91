/**
 * How a term's places in one block are spelled: `12 40:150 ` says entry 12 of the block with weight 1, entry 40 with
 * weight 1.5. Text, because appending to it is one concatenation in every engine.
 */
import { BLOCK_SIZE, type NewPosting } from "../stores/recall-tables.ts";

/** Collects the postings of entries, in ascending ordinal. */
export function postingWriter() {
  const rows = new Map<string, { term: string; block: number; count: number; list: string }>();
  return {
    add(ordinal: number, terms: ReadonlyMap<string, number>): void {
      const block = Math.floor(ordinal / BLOCK_SIZE);
      for (const [term, weight] of terms) {
        const key = `${block} ${term}`;
        const row = rows.get(key) ?? { term, block, count: 0, list: "" };
        rows.set(key, row);
        row.count += 1;
        row.list += spell(ordinal % BLOCK_SIZE, Math.round(weight * 100));
      }
    },
    /** In key order: rows that lie side by side are written side by side. */
    rows: (): NewPosting[] =>
      [...rows.values()].sort((a, b) => (a.term < b.term ? -1 : a.term > b.term ? 1 : a.block - b.block)),
  };
}

function spell(offset: number, hundredths: number): string {
  return hundredths === 100 ? `${offset} ` : `${offset}:${hundredths} `;
}

/** Calls back with each place of the list, as an ordinal of the thread, and its weight. */
export function readPostings(block: number, list: string, each: (ordinal: number, weight: number) => void): void {
  const first = block * BLOCK_SIZE;
  let number = 0;
  let offset = -1;
  for (let at = 0; at < list.length; at += 1) {
    const code = list.charCodeAt(at);
    if (code >= 48) {
      if (code === 58) [offset, number] = [number, 0];
      else number = number * 10 + code - 48;
      continue;
    }
    if (offset < 0) each(first + number, 1);
    else each(first + offset, number / 100);
    number = 0;
    offset = -1;
  }
}

/** The posting rows of one search, decoded when they are needed. Knows where a scope's segments end. */

import type { IndexedSegment, Posting, SearchEntry } from "../stores/search-tables.ts";
import { readPostings } from "../stores/search-tables.ts";

export interface BlockPlace {
  readonly threadId: string;
  readonly block: number;
}

interface Block extends BlockPlace {
  /** By the term's place in the question. */
  readonly rows: (Posting | undefined)[];
  /** The last offset that belongs to the scope. */
  readonly last: number;
}

export class PostingLists {
  readonly #blockSize: number;
  readonly #terms: ReadonlyMap<string, number>;
  readonly #blocks = new Map<string, Block>();

  constructor(
    blockSize: number,
    terms: readonly string[],
    rows: readonly Posting[],
    segments: readonly IndexedSegment[],
  ) {
    this.#blockSize = blockSize;
    this.#terms = new Map(terms.map((term, index) => [term, index]));
    const cuts = new Map(segments.map(({ threadId, cut }) => [threadId, cut ?? Number.MAX_SAFE_INTEGER]));
    for (const row of rows) {
      const { threadId, block } = row;
      const key = keyOf(threadId, block);
      const cached = this.#blocks.get(key) ?? {
        threadId,
        block,
        rows: new Array<Posting | undefined>(terms.length).fill(undefined),
        last: Math.min(cuts.get(threadId)! - block * blockSize, blockSize - 1),
      };
      this.#blocks.set(key, cached);
      cached.rows[this.#terms.get(row.term)!] = row;
    }
  }

  /** Every block that holds any of the terms. */
  blocks(): readonly BlockPlace[] {
    return [...this.#blocks.values()];
  }

  /** How many entries of the scope hold each term. */
  holding(): ReadonlyMap<string, number> {
    const counts = new Map([...this.#terms.keys()].map((term) => [term, 0]));
    for (const { rows, last } of this.#blocks.values()) {
      for (const row of rows) {
        if (!row) continue;
        const count = last === this.#blockSize - 1 ? row.count : countThrough(row.list, last);
        counts.set(row.term, counts.get(row.term)! + count);
      }
    }
    return counts;
  }

  /** Ordinals in the block whose entries hold all of the terms, ascending. */
  matches({ threadId, block }: BlockPlace, terms: readonly string[]): number[] {
    const postings = this.#blocks.get(keyOf(threadId, block));
    const rows = terms.map((term) => postings?.rows[this.#terms.get(term)!]);
    if (!postings || !rows.every((row) => row !== undefined)) return [];
    const ordinals: number[] = [];
    const first = block * this.#blockSize;
    const seen = rows.length > 1 ? new Uint8Array(this.#blockSize) : undefined;
    rows.forEach(({ list }, round) => {
      readPostings(list, (offset) => {
        if (offset > postings.last) return;
        if (round === rows.length - 1) {
          if (seen === undefined || seen[offset] === round) ordinals.push(first + offset);
        } else if (seen![offset] === round) seen![offset] = round + 1;
      });
    });
    return ordinals;
  }

  /** For each entry the weight of each term in it, in the order of the terms. Each list is walked once. */
  weights(entries: readonly SearchEntry[]): number[][] {
    const width = this.#terms.size;
    const weights = entries.map(() => new Array<number>(width).fill(0));
    const wanted = new Int32Array(this.#blockSize);
    const byBlock = Map.groupBy(entries.keys(), (index) => {
      const { threadId, ordinal } = entries[index]!;
      return keyOf(threadId, Math.floor(ordinal / this.#blockSize));
    });
    for (const [key, indices] of byBlock) {
      const block = this.#blocks.get(key);
      if (!block) continue;
      wanted.fill(-1);
      for (const index of indices) wanted[entries[index]!.ordinal % this.#blockSize] = index;
      block.rows.forEach((row, term) => {
        if (!row) return;
        readPostings(row.list, (offset, weight) => {
          const index = wanted[offset]!;
          if (index >= 0) weights[index]![term] = weight;
        });
      });
    }
    return weights;
  }
}

function keyOf(threadId: string, block: number): string {
  return `${block} ${threadId}`;
}

function countThrough(list: string, last: number): number {
  let count = 0;
  readPostings(list, (offset) => {
    if (offset <= last) count += 1;
  });
  return count;
}

/** The posting rows of one search, decoded block by block when they are needed. Knows where a scope's stretches end. */
import { BLOCK_SIZE, type Entry, type Posting, type Stretch } from "../stores/recall-tables.ts";
import { readPostings } from "./postings.ts";

export interface BlockPlace {
  readonly thread: string;
  readonly block: number;
}

interface Block {
  readonly place: BlockPlace;
  /** By the term's place in the question. */
  readonly rows: (Posting | undefined)[];
  /** For each term the weight by place in the block, once it was asked for. */
  readonly columns: (Float64Array | undefined)[];
}

export class PostingLists {
  readonly #terms = new Map<string, number>();
  readonly #blocks = new Map<string, Block>();
  readonly #cuts: ReadonlyMap<string, number>;

  constructor(terms: readonly string[], rows: readonly Posting[], stretches: readonly Stretch[]) {
    for (const [index, term] of terms.entries()) this.#terms.set(term, index);
    this.#cuts = new Map(stretches.map(({ thread, cut }) => [thread, cut ?? Number.MAX_SAFE_INTEGER]));
    for (const row of rows) {
      const { thread, block } = row;
      const key = keyOf(thread, block);
      const known = this.#blocks.get(key) ?? { place: { thread, block }, rows: [], columns: [] };
      this.#blocks.set(key, known);
      known.rows[this.#terms.get(row.term)!] = row;
    }
  }

  /** Every block that holds any of the terms. */
  blocks(): readonly BlockPlace[] {
    return [...this.#blocks.values()].map(({ place }) => place);
  }

  /** How many entries of the scope hold each term. */
  holding(): ReadonlyMap<string, number> {
    const held = new Map([...this.#terms.keys()].map((term) => [term, 0]));
    for (const { place, rows } of this.#blocks.values()) {
      const cut = this.#cutOf(place);
      for (const row of rows) {
        if (!row) continue;
        const count = cut === undefined ? row.count : countThrough(place.block, row.list, cut);
        held.set(row.term, held.get(row.term)! + count);
      }
    }
    return held;
  }

  /** Ordinals in the block whose entries hold all of the terms. */
  matches({ thread, block }: BlockPlace, terms: readonly string[]): number[] {
    const found: number[] = [];
    const known = this.#blocks.get(keyOf(thread, block));
    const places = terms.map((term) => this.#terms.get(term)!);
    if (!known || places.some((place) => known.rows[place] === undefined)) return found;
    // Walk the shortest list and look into the others.
    const [walk, ...others] = places.sort((a, b) => known.rows[a]!.count - known.rows[b]!.count);
    const columns = others.map((place) => this.#column(known, place)!);
    const first = block * BLOCK_SIZE;
    const cut = this.#cutOf(known.place) ?? Number.MAX_SAFE_INTEGER;
    readPostings(known.rows[walk!]!.list, (offset) => {
      if (first + offset > cut) return;
      for (const column of columns) if (column[offset] === 0) return;
      found.push(first + offset);
    });
    return found;
  }

  /** The weight of each term in the entry, in the order of the terms. */
  weights({ thread, ordinal }: Entry): Float64Array {
    const weights = new Float64Array(this.#terms.size);
    const block = this.#blocks.get(keyOf(thread, Math.floor(ordinal / BLOCK_SIZE)));
    if (!block) return weights;
    for (let t = 0; t < weights.length; t += 1) weights[t] = this.#column(block, t)?.[ordinal % BLOCK_SIZE] ?? 0;
    return weights;
  }

  #column(known: Block, term: number): Float64Array | undefined {
    const row = known.rows[term];
    if (!row || known.columns[term]) return known.columns[term];
    const { block } = known.place;
    const cut = this.#cutOf(known.place) ?? Number.MAX_SAFE_INTEGER;
    const column = new Float64Array(BLOCK_SIZE);
    readPostings(row.list, (offset, weight) => {
      if (block * BLOCK_SIZE + offset <= cut) column[offset] = weight;
    });
    known.columns[term] = column;
    return column;
  }

  /** Where the scope ends inside this block, if it does. */
  #cutOf({ thread, block }: BlockPlace): number | undefined {
    const cut = this.#cuts.get(thread)!;
    return cut < (block + 1) * BLOCK_SIZE - 1 ? cut : undefined;
  }
}

function keyOf(thread: string, block: number): string {
  return `${block} ${thread}`;
}

function countThrough(block: number, list: string, cut: number): number {
  let held = 0;
  readPostings(list, (offset) => {
    if (block * BLOCK_SIZE + offset <= cut) held += 1;
  });
  return held;
}

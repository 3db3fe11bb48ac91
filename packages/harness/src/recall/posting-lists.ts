/**
 * The posting rows of one search: counts at once, lists when they are needed where that is less work. Knows where a scope's segments end, and
 * that some rows hold more blocks than others.
 */

import { readPostings } from "../stores/posting-text.ts";
import type {
  IndexedSegment,
  Posting,
  PostingCount,
  PostingPlace,
  SearchEntry,
  SearchTables,
} from "../stores/search-tables.ts";

/** The entries that one row of a term speaks of: a block, or some that are merged. */
export interface Piece {
  readonly threadId: string;
  readonly block: number;
  readonly blocks: number;
  /** The first ordinal. */
  readonly first: number;
  readonly size: number;
  /** The last offset that belongs to the scope. */
  readonly last: number;
  /** By the term's place in the question: how many entries of the scope hold it. */
  readonly counts: number[];
  /** What has been loaded of each term: one list, or those of single blocks where they stand apart. */
  readonly lists: Map<number, string>[];
  readonly split: boolean[];
}

/** Terms of one piece whose lists are needed; of those that stand apart only some blocks' where that is said. */
export interface Wanted {
  readonly piece: Piece;
  readonly terms: Iterable<number>;
  readonly blocks?: ReadonlySet<number>;
}

/** Up to so many blocks long lists are read with their counts, too: reaching a row costs more than its list, and most will be needed. */
export const FEW_BLOCKS = 128;

export class PostingLists {
  readonly #tables: SearchTables;
  readonly #terms: readonly string[];
  readonly #pieces: readonly Piece[];

  private constructor(tables: SearchTables, terms: readonly string[], pieces: readonly Piece[]) {
    this.#tables = tables;
    this.#terms = terms;
    this.#pieces = pieces;
  }

  static async read(
    tables: SearchTables,
    segments: readonly IndexedSegment[],
    terms: readonly string[],
    fewBlocks: number,
  ) {
    const spans = segments.map(({ threadId, cut, newest }) => {
      const last = Math.min(newest?.ordinal ?? -1, cut ?? Number.MAX_SAFE_INTEGER);
      return { threadId, before: Math.floor(last / tables.blockSize) + 1 };
    });
    const few = spans.reduce((sum, { before }) => sum + before, 0) <= fewBlocks;
    const { merging } = tables;
    const rows = merging
      ? await merging.counts(spans, terms, few ? "all" : "short")
      : await tables.postings(spans, terms);
    const lists = new PostingLists(tables, terms, piecesOf(tables.blockSize, terms, rows, segments));
    await lists.#countCut();
    return lists;
  }

  /** Every piece that holds any of the terms. */
  pieces(): readonly Piece[] {
    return this.#pieces;
  }

  /** How many entries of the scope hold each term. */
  holding(): ReadonlyMap<string, number> {
    const sum = (term: number) => this.#pieces.reduce((total, { counts }) => total + counts[term]!, 0);
    return new Map(this.#terms.map((term, index) => [term, sum(index)]));
  }

  async load(wanted: readonly Wanted[]): Promise<void> {
    const places: PostingPlace[] = [];
    const targets = new Map<string, Piece>();
    for (const { piece, terms, blocks: some } of wanted) {
      const { threadId, block, blocks, counts, lists, split } = piece;
      for (const index of terms) {
        if (counts[index] === 0) continue;
        const parts = split[index] ? (some ?? range(block, blocks)) : [block];
        for (const part of parts) {
          if (lists[index]!.has(part)) continue;
          lists[index]!.set(part, "");
          const place = { threadId, term: this.#terms[index]!, block: part, blocks: split[index] ? 1 : blocks };
          targets.set(keyOf(place), piece);
          places.push(place);
        }
      }
    }
    if (places.length === 0) return;
    for (const row of (await this.#tables.merging?.lists(places)) ?? [])
      targets.get(keyOf(row))!.lists[this.#terms.indexOf(row.term)]!.set(row.block, row.list);
  }

  /** Ordinals in the piece whose entries hold all of the terms, ascending. Their lists are loaded. */
  matches(piece: Piece, terms: readonly number[]): number[] {
    const { first, size, last } = piece;
    const ordinals: number[] = [];
    const seen = terms.length > 1 ? new Uint8Array(size) : undefined;
    terms.forEach((term, round) => {
      const final = round === terms.length - 1;
      this.#read(piece, term, (offset) => {
        if (offset > last) return;
        if (final) {
          if (seen === undefined || seen[offset] === round) ordinals.push(first + offset);
        } else if (seen![offset] === round) seen![offset] = round + 1;
      });
    });
    return ordinals.sort((a, b) => a - b);
  }

  #read({ block, lists }: Piece, term: number, each: (offset: number, weight: number) => void): void {
    const { blockSize } = this.#tables;
    for (const [part, list] of lists[term]!) readPostings(list, blockSize, each, (part - block) * blockSize);
  }

  /** For each entry the weight of each term in it, in the order of the terms. Each list is walked once. */
  async weights(entries: readonly SearchEntry[]): Promise<number[][]> {
    const { blockSize } = this.#tables;
    const width = this.#terms.length;
    const weights = entries.map(() => new Array<number>(width).fill(0));
    const byPiece = [...this.#entriesByPiece(entries)].map(([piece, indices]) => {
      const blocks = new Set(indices.map((index) => Math.floor(entries[index]!.ordinal / blockSize)));
      return { piece, indices, blocks, terms: [...this.#terms.keys()] };
    });
    await this.load(byPiece);
    // One for all pieces: filling one for each would cost as much as reading the lists.
    const wanted = new Int32Array(byPiece.reduce((most, { piece }) => Math.max(most, piece.size), 0)).fill(-1);
    for (const { piece, indices, terms } of byPiece) {
      for (const index of indices) wanted[entries[index]!.ordinal - piece.first] = index;
      for (const term of terms)
        this.#read(piece, term, (offset, weight) => {
          const index = wanted[offset]!;
          if (index >= 0) weights[index]![term] = weight;
        });
      for (const index of indices) wanted[entries[index]!.ordinal - piece.first] = -1;
    }
    return weights;
  }

  #entriesByPiece(entries: readonly SearchEntry[]): Map<Piece, number[]> {
    const { blockSize } = this.#tables;
    const byBlock = new Map<string, Piece>();
    for (const piece of this.#pieces) {
      for (let block = piece.block; block < piece.block + piece.blocks; block += 1)
        byBlock.set(keyOf({ threadId: piece.threadId, block }), piece);
    }
    const byPiece = new Map<Piece, number[]>();
    entries.forEach(({ threadId, ordinal }, index) => {
      const piece = byBlock.get(keyOf({ threadId, block: Math.floor(ordinal / blockSize) }));
      if (piece === undefined) return;
      const indices = byPiece.get(piece);
      if (indices) indices.push(index);
      else byPiece.set(piece, [index]);
    });
    return byPiece;
  }

  /** Where a fork left its parent, only what stands before it counts. */
  async #countCut(): Promise<void> {
    const cut = this.#pieces.filter(({ last, size }) => last < size - 1);
    await this.load(cut.map((piece) => ({ piece, terms: this.#terms.keys() })));
    for (const piece of cut) {
      for (const term of this.#terms.keys()) {
        piece.counts[term] = 0;
        this.#read(piece, term, (offset) => {
          if (offset <= piece.last) piece.counts[term]! += 1;
        });
      }
    }
  }
}

function piecesOf(
  blockSize: number,
  terms: readonly string[],
  rows: readonly (PostingCount | Posting)[],
  segments: readonly IndexedSegment[],
): Piece[] {
  const cuts = new Map(segments.map(({ threadId, cut }) => [threadId, cut ?? Number.MAX_SAFE_INTEGER]));
  const places = new Map(terms.map((term, index) => [term, index]));
  const pieces = new Map<string, Piece>();
  for (const row of rows) {
    const key = keyOf(row);
    const piece = pieces.get(key) ?? emptyPiece(row, blockSize, cuts.get(row.threadId)!, terms.length);
    pieces.set(key, piece);
    const term = places.get(row.term)!;
    piece.counts[term] = row.count;
    piece.split[term] = row.split === true;
    if ("list" in row) piece.lists[term]!.set(row.block, row.list);
  }
  return [...pieces.values()];
}

function emptyPiece({ threadId, block, blocks }: PostingPlace, blockSize: number, cut: number, width: number): Piece {
  const [first, size] = [block * blockSize, blocks * blockSize];
  return {
    threadId,
    block,
    blocks,
    first,
    size,
    last: Math.min(cut - first, size - 1),
    counts: new Array<number>(width).fill(0),
    lists: Array.from({ length: width }, () => new Map<number, string>()),
    split: new Array<boolean>(width).fill(false),
  };
}

function keyOf({ threadId, block }: Pick<Piece, "threadId" | "block">): string {
  return `${block} ${threadId}`;
}

function range(first: number, length: number): number[] {
  return Array.from({ length }, (_, at) => first + at);
}

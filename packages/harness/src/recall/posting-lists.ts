/**
 * The posting rows of one search: counts at once, lists when they are needed where that is less work. Knows where a scope's segments end, and
 * that some rows hold more blocks than others.
 */

import { readPostings } from "../stores/posting-text.ts";
import {
  type IndexedSegment,
  POOL,
  type Posting,
  type PostingCount,
  type PostingPlace,
  type SearchEntry,
  type SearchTables,
  type Slot,
  type Span,
  type UserIndex,
} from "../stores/search-tables.ts";

/** What is searched: the segments of a thread, or a user's threads, most of which lie in the pool. */
export type PostingScope =
  | { readonly kind: "thread"; readonly segments: readonly IndexedSegment[] }
  | { readonly kind: "user"; readonly user: UserIndex };

/** The entries that one row of a term speaks of: a block, or some that are merged. */
export interface PostingPiece {
  /** Whose entries they are; the pool's own where a user's threads are searched. */
  readonly threadId: string;
  /** Under which name its rows are: the thread's, or the pool's. */
  readonly source: string;
  readonly block: number;
  readonly blocks: number;
  /** The first ordinal, or place of the pool. */
  readonly first: number;
  readonly size: number;
  /** The offsets that belong to the scope; null: all. */
  readonly within: readonly (readonly [first: number, last: number])[] | null;
  /** By the term's place in the question: how many entries of the scope hold it. */
  readonly counts: number[];
  /** What has been loaded of each term: one list, or those of single blocks where they stand apart. */
  readonly lists: Map<number, string>[];
  readonly split: boolean[];
}

export interface TermValues {
  readonly frequencies: number[];
  /** Null where none of the terms has any. */
  passages: number[] | null;
}

/** Terms of one piece whose lists are needed; of those that stand apart only some blocks' where that is said. */
export interface Wanted {
  readonly piece: PostingPiece;
  readonly terms: Iterable<number>;
  readonly blocks?: ReadonlySet<number>;
}

/** Up to so many blocks long lists are read with their counts, too: reaching a row costs more than its list, and most will be needed. */
export const FEW_BLOCKS = 128;

export class PostingLists {
  readonly #tables: SearchTables;
  readonly #terms: readonly string[];
  readonly #pieces: readonly PostingPiece[];
  readonly #scope: PostingScope;
  readonly #slots = new Map<string, readonly Slot[]>();

  private constructor(
    tables: SearchTables,
    terms: readonly string[],
    pieces: readonly PostingPiece[],
    scope: PostingScope,
  ) {
    this.#tables = tables;
    this.#terms = terms;
    this.#pieces = pieces;
    this.#scope = scope;
    if (scope.kind === "thread") this.learn(scope.segments.flatMap(({ slots = [] }) => slots));
  }

  static async read(tables: SearchTables, scope: PostingScope, terms: readonly string[], fewBlocks: number) {
    const spans = spansOf(scope, tables.blockSize);
    const few = spans.reduce((sum, { from = 0, before }) => sum + before - from, 0) <= fewBlocks;
    const { merging } = tables;
    const rows = merging
      ? await merging.counts(spans, terms, few ? "all" : "short")
      : await tables.postings(spans, terms);
    const lists = new PostingLists(tables, terms, piecesOf(tables.blockSize, terms, rows, scope), scope);
    await lists.#countBounded();
    return lists;
  }

  /** Where entries of threads lie in the pool. */
  learn(slots: readonly Slot[]): void {
    for (const [threadId, own] of Map.groupBy(slots, (slot) => slot.threadId)) this.#slots.set(threadId, own);
  }

  /** Every piece that holds any of the terms. */
  pieces(): readonly PostingPiece[] {
    return this.#pieces;
  }

  /** How many entries of the scope hold each term. */
  holding(): ReadonlyMap<string, number> {
    const sum = (term: number) => this.#pieces.reduce((total, { counts }) => total + counts[term]!, 0);
    return new Map(this.#terms.map((term, index) => [term, sum(index)]));
  }

  async load(wanted: readonly Wanted[]): Promise<void> {
    const places: PostingPlace[] = [];
    const targets = new Map<string, PostingPiece[]>();
    for (const { piece, terms, blocks: some } of wanted) {
      const { source, block, blocks, counts, lists, split } = piece;
      for (const index of terms) {
        if (counts[index] === 0) continue;
        const parts = split[index] ? (some ?? range(block, blocks)) : [block];
        for (const part of parts) {
          if (lists[index]!.has(part)) continue;
          lists[index]!.set(part, "");
          const term = this.#terms[index]!;
          const place = { threadId: source, term, block: part, blocks: split[index] ? 1 : blocks };
          const key = `${term} ${keyOf(source, part)}`;
          if (!targets.has(key)) places.push(place);
          targets.set(key, [...(targets.get(key) ?? []), piece]);
        }
      }
    }
    if (places.length === 0) return;
    for (const { threadId, term, block, list } of (await this.#tables.merging?.lists(places)) ?? [])
      for (const piece of targets.get(`${term} ${keyOf(threadId, block)}`)!)
        piece.lists[this.#terms.indexOf(term)]!.set(block, list);
  }

  /** Ordinals in the piece whose entries hold all of the terms, ascending; of the pool itself its places. Their lists are loaded. */
  matches(piece: PostingPiece, terms: readonly number[]): number[] {
    const { first, size, source, threadId } = piece;
    const ordinals: number[] = [];
    const seen = terms.length > 1 ? new Uint8Array(size) : undefined;
    const slots = source === threadId ? undefined : this.#slots.get(threadId);
    terms.forEach((term, round) => {
      const final = round === terms.length - 1;
      this.#read(piece, term, (offset) => {
        if (!isWithin(piece, offset)) return;
        if (final) {
          if (seen === undefined || seen[offset] === round) ordinals.push(ordinalAt(slots, first + offset));
        } else if (seen![offset] === round) seen![offset] = round + 1;
      });
    });
    return ordinals.sort((a, b) => a - b);
  }

  #read(
    { block, lists }: PostingPiece,
    term: number,
    each: (offset: number, weight: number, passages: number) => void,
  ): void {
    const { blockSize } = this.#tables;
    for (const [part, list] of lists[term]!) readPostings(list, blockSize, each, (part - block) * blockSize);
  }

  /** For each entry the weight of each term in it, and its passages, in the order of the terms. Each list is walked once. */
  async weights(entries: readonly SearchEntry[]): Promise<TermValues[]> {
    const { blockSize } = this.#tables;
    const width = this.#terms.length;
    const values = entries.map((): TermValues => ({ frequencies: new Array<number>(width).fill(0), passages: null }));
    const places = entries.map(({ threadId, ordinal }) => placeIn(this.#slots.get(threadId), ordinal) ?? ordinal);
    const byPiece = [...this.#entriesByPiece(entries, places)].map(([piece, indices]) => {
      const blocks = new Set(indices.map((index) => Math.floor(places[index]! / blockSize)));
      return { piece, indices, blocks, terms: [...this.#terms.keys()] };
    });
    await this.load(byPiece);
    // One for all pieces: filling one for each would cost as much as reading the lists.
    const wanted = new Int32Array(byPiece.reduce((most, { piece }) => Math.max(most, piece.size), 0)).fill(-1);
    for (const { piece, indices, terms } of byPiece) {
      for (const index of indices) wanted[places[index]! - piece.first] = index;
      for (const term of terms)
        this.#read(piece, term, (offset, weight, passages) => {
          const index = wanted[offset]!;
          if (index < 0) return;
          const value = values[index]!;
          value.frequencies[term] = weight;
          if (passages === 0) return;
          value.passages ??= new Array<number>(width).fill(0);
          value.passages[term] = passages;
        });
      for (const index of indices) wanted[places[index]! - piece.first] = -1;
    }
    return values;
  }

  #entriesByPiece(entries: readonly SearchEntry[], places: readonly number[]): Map<PostingPiece, number[]> {
    const { blockSize } = this.#tables;
    const byBlock = new Map<string, PostingPiece>();
    for (const piece of this.#pieces) {
      for (let block = piece.block; block < piece.block + piece.blocks; block += 1)
        byBlock.set(pieceKey(piece.threadId, piece.source, block), piece);
    }
    const byPiece = new Map<PostingPiece, number[]>();
    entries.forEach(({ threadId, ordinal }, index) => {
      const source = placeIn(this.#slots.get(threadId), ordinal) === undefined ? threadId : POOL;
      const owner = this.#scope.kind === "user" ? source : threadId;
      const piece = byBlock.get(pieceKey(owner, source, Math.floor(places[index]! / blockSize)));
      if (piece === undefined) return;
      const indices = byPiece.get(piece);
      if (indices) indices.push(index);
      else byPiece.set(piece, [index]);
    });
    return byPiece;
  }

  /** Where a fork left its parent only what stands before it counts, and of a block of the pool only a thread's own. */
  async #countBounded(): Promise<void> {
    const bounded = this.#pieces.filter(({ within }) => within !== null);
    await this.load(bounded.map((piece) => ({ piece, terms: this.#terms.keys() })));
    for (const piece of bounded) {
      for (const term of this.#terms.keys()) {
        piece.counts[term] = 0;
        this.#read(piece, term, (offset) => {
          if (isWithin(piece, offset)) piece.counts[term]! += 1;
        });
      }
    }
  }
}

/** The ordinal that a place of the pool stands for. */
function ordinalAt(slots: readonly Slot[] | undefined, place: number): number {
  const slot = slots?.find(({ first, size }) => place >= first && place < first + size);
  return slot === undefined ? place : slot.ordinal + place - slot.first;
}

/** The place of an ordinal in the pool, if it has one there. */
function placeIn(slots: readonly Slot[] | undefined, ordinal: number): number | undefined {
  const slot = slots?.find((one) => ordinal >= one.ordinal && ordinal < one.ordinal + one.size);
  return slot && slot.first + ordinal - slot.ordinal;
}

function isWithin({ within }: PostingPiece, offset: number): boolean {
  return within === null || within.some(([first, last]) => offset >= first && offset <= last);
}

/** The last ordinal of a segment that belongs to the scope. */
function lastOf({ newest, cut }: IndexedSegment): number {
  return Math.min(newest?.ordinal ?? -1, cut ?? Number.MAX_SAFE_INTEGER);
}

function spansOf(scope: PostingScope, blockSize: number): Span[] {
  const segments = scope.kind === "thread" ? scope.segments : scope.user.large;
  const own = segments
    .filter(({ slots = [] }) => slots.length === 0)
    .map((one): Span => ({ threadId: one.threadId, before: Math.floor(lastOf(one) / blockSize) + 1 }));
  if (scope.kind === "user") return [{ threadId: POOL, from: scope.user.from, before: scope.user.before }, ...own];
  const blocks = new Set<number>();
  for (const segment of segments)
    for (const { first, size } of slotsWithin(segment))
      for (let at = Math.floor(first / blockSize); at * blockSize < first + size; at += 1) blocks.add(at);
  return [...own, ...[...blocks].map((from) => ({ threadId: POOL, from, before: from + 1 }))];
}

/** Its slots, cut where the scope ends. */
function slotsWithin(segment: IndexedSegment): Slot[] {
  const last = lastOf(segment);
  return (segment.slots ?? []).flatMap((slot) =>
    slot.ordinal > last ? [] : [{ ...slot, size: Math.min(slot.size, last - slot.ordinal + 1) }],
  );
}

function piecesOf(
  blockSize: number,
  terms: readonly string[],
  rows: readonly (PostingCount | Posting)[],
  scope: PostingScope,
): PostingPiece[] {
  const segments = new Map((scope.kind === "thread" ? scope.segments : []).map((one) => [one.threadId, one]));
  const pooled = [...segments.values()].map(slotsWithin).filter((slots) => slots.length > 0);
  const places = new Map(terms.map((term, index) => [term, index]));
  const pieces = new Map<string, PostingPiece>();
  const add = (row: PostingCount | Posting, threadId: string, within: PostingPiece["within"]): void => {
    const key = pieceKey(threadId, row.threadId, row.block);
    const piece = pieces.get(key) ?? emptyPiece(row, threadId, within, blockSize, terms.length);
    pieces.set(key, piece);
    const term = places.get(row.term)!;
    piece.counts[term] = row.count;
    piece.split[term] = row.split === true;
    if ("list" in row) piece.lists[term]!.set(row.block, row.list);
  };
  for (const row of rows) {
    const [first, size] = [row.block * blockSize, row.blocks * blockSize];
    if (row.threadId === POOL && scope.kind === "thread") {
      for (const slots of pooled) {
        const own = slots.filter((slot) => slot.first < first + size && slot.first + slot.size > first);
        if (own.length === 0) continue;
        const within = own.map((slot) => [slot.first - first, slot.first + slot.size - 1 - first] as const);
        add(row, slots[0]!.threadId, within);
      }
    } else {
      const last = (segments.get(row.threadId)?.cut ?? Number.MAX_SAFE_INTEGER) - first;
      add(row, row.threadId, last < size - 1 ? [[0, last]] : null);
    }
  }
  return [...pieces.values()];
}

function emptyPiece(
  { threadId: source, block, blocks }: PostingPlace,
  threadId: string,
  within: PostingPiece["within"],
  blockSize: number,
  width: number,
): PostingPiece {
  return {
    threadId,
    source,
    block,
    blocks,
    first: block * blockSize,
    size: blocks * blockSize,
    within,
    counts: new Array<number>(width).fill(0),
    lists: Array.from({ length: width }, () => new Map<number, string>()),
    split: new Array<boolean>(width).fill(false),
  };
}

function keyOf(source: string, block: number): string {
  return `${block} ${source}`;
}

function pieceKey(threadId: string, source: string, block: number): string {
  return source === threadId ? keyOf(source, block) : `${keyOf(source, block)} ${threadId}`;
}

function range(first: number, length: number): number[] {
  return Array.from({ length }, (_, at) => first + at);
}

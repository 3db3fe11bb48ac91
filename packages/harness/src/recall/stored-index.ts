/**
 * Core's index port over a store's recall tables: exact counts, and the candidates of each seek with their neighbours.
 * It expects an index that is up to date (`catch-up.ts`) and never ranks.
 */
import type { CandidateRequest, IndexedDoc, RecallIndex, Scope, ScopeStatistics, Seek } from "@palimpsest/core/recall";
import {
  BLOCK_SIZE,
  type Entry,
  type Posting,
  type RecallTables,
  type Span,
  type Stretch,
} from "../stores/recall-tables.ts";
import { readPostings } from "./postings.ts";

/** `stretches` are those of the scope. */
export function storedIndex(tables: RecallTables, stretches: readonly Stretch[]): RecallIndex {
  return {
    statistics: (_scope, terms) => statistics(tables, stretches, terms),
    candidates: (scope, request) => candidates(tables, stretches, scope, request),
  };
}

const blockOf = (ordinal: number) => Math.floor(ordinal / BLOCK_SIZE);

/** The blocks that lie wholly inside the stretch, and the one the cut goes through. */
function fullBlocks({ thread, cut }: Stretch): Span {
  return { thread, before: cut === null ? ALL_BLOCKS : blockOf(cut + 1) };
}

const ALL_BLOCKS = 2 ** 31 - 1;

async function statistics(
  tables: RecallTables,
  stretches: readonly Stretch[],
  terms: readonly string[],
): Promise<ScopeStatistics> {
  const holding = new Map(await tables.counts(stretches.map(fullBlocks), terms));
  let [entries, totalLength] = [0, 0];
  for (const stretch of stretches) {
    if (stretch.cut === null) {
      entries += stretch.entries;
      totalLength += stretch.length;
      continue;
    }
    const totals = await tables.totals(stretch.thread, stretch.cut);
    entries += totals.entries;
    totalLength += totals.length;
    await addCutBlock(tables, stretch, stretch.cut, terms, holding);
  }
  return { entries, totalLength, holding };
}

async function addCutBlock(
  tables: RecallTables,
  stretch: Stretch,
  cut: number,
  terms: readonly string[],
  holding: Map<string, number>,
): Promise<void> {
  const { thread, before } = fullBlocks(stretch);
  const rows = await tables.postings([{ thread, before: before + 1 }], terms);
  for (const { term, block, list } of rows) {
    if (block !== before) continue;
    let held = 0;
    readPostings(block, list, (ordinal) => {
      if (ordinal <= cut) held += 1;
    });
    holding.set(term, (holding.get(term) ?? 0) + held);
  }
}

async function candidates(
  tables: RecallTables,
  stretches: readonly Stretch[],
  scope: Scope,
  request: CandidateRequest,
): Promise<IndexedDoc[]> {
  const spans = stretches.map((one) => ({
    thread: one.thread,
    before: one.cut === null ? ALL_BLOCKS : blockOf(one.cut) + 1,
  }));
  const lists = new PostingLists(await tables.postings(spans, request.terms), stretches);
  const newestFirst = await blockOrder(tables, stretches, scope, lists);
  const matches = new Map<string, Set<number>>();
  for (const seek of request.seeks) {
    const found = await seekNewest(tables, scope, seek, lists, newestFirst);
    for (const { thread, ordinal } of found) {
      const known = matches.get(thread);
      if (known) known.add(ordinal);
      else matches.set(thread, new Set([ordinal]));
    }
  }
  const near = await withNeighbours(tables, matches, lists, scope, request.reach);
  return near.map((entry) => ({
    ...entry,
    thread: scope.kind === "thread" ? scope.thread : entry.thread,
    frequencies: lists.weights(entry, request.terms),
  }));
}

interface BlockPlace {
  readonly thread: string;
  readonly block: number;
  /** Nothing in this block or those after it is newer. */
  readonly newest: string;
}

/** In a thread the later block is the newer one; among threads the clock decides. */
async function blockOrder(
  tables: RecallTables,
  stretches: readonly Stretch[],
  scope: Scope,
  lists: PostingLists,
): Promise<BlockPlace[]> {
  if (scope.kind === "thread") {
    const order = new Map(stretches.map((stretch, index) => [stretch.thread, index]));
    const places = lists.blocks().map((place) => ({ ...place, newest: "" }));
    return places.sort((a, b) => order.get(b.thread)! - order.get(a.thread)! || b.block - a.block);
  }
  const threads = [...new Set(lists.blocks().map(({ thread }) => thread))];
  const held = new Set(lists.blocks().map(({ thread, block }) => `${block} ${thread}`));
  const places = (await tables.blocks(threads)).filter(({ thread, block }) => held.has(`${block} ${thread}`));
  return places.sort((a, b) => (a.newest < b.newest ? 1 : a.newest > b.newest ? -1 : 0));
}

interface Match {
  readonly thread: string;
  readonly ordinal: number;
}

async function seekNewest(
  tables: RecallTables,
  scope: Scope,
  seek: Seek,
  lists: PostingLists,
  newestFirst: readonly BlockPlace[],
): Promise<readonly Match[]> {
  let found: (Match & { at?: string; seq?: number })[] = [];
  for (const { thread, block, newest } of newestFirst) {
    if (found.length >= seek.limit) {
      if (scope.kind === "thread") break;
      // By the clock, an older block may still hold something newer than the worst so far.
      found = (await dated(tables, found)).sort(byTime).slice(0, seek.limit);
      if (newest < found.at(-1)!.at!) break;
    }
    for (const ordinal of lists.holding(thread, block, seek.all)) found.push({ thread, ordinal });
  }
  if (found.length <= seek.limit) return found;
  if (scope.kind === "user") return (await dated(tables, found)).sort(byTime).slice(0, seek.limit);
  return found.sort((a, b) => b.ordinal - a.ordinal).slice(0, seek.limit);
}

async function dated(tables: RecallTables, matches: readonly (Match & { at?: string; seq?: number })[]) {
  const missing = Map.groupBy(
    matches.filter(({ at }) => at === undefined),
    ({ thread }) => thread,
  );
  if (missing.size === 0) return [...matches] as Dated[];
  const wanted = [...missing].map(([thread, list]) => ({ thread, ordinals: list.map(({ ordinal }) => ordinal) }));
  const known = matches.filter(({ at }) => at !== undefined) as Dated[];
  return [...known, ...(await tables.entries(wanted))] as Dated[];
}

type Dated = Match & { readonly at: string; readonly seq: number };

function byTime(
  a: { thread: string; at?: string; seq?: number },
  b: { thread: string; at?: string; seq?: number },
): number {
  if (a.at !== b.at) return a.at! > b.at! ? -1 : 1;
  if (a.thread !== b.thread) return a.thread < b.thread ? -1 : 1;
  return b.seq! - a.seq!;
}

/** The matches and whoever stands within reach of one of them in its session. */
async function withNeighbours(
  tables: RecallTables,
  matches: ReadonlyMap<string, ReadonlySet<number>>,
  lists: PostingLists,
  scope: Scope,
  reach: number,
): Promise<Entry[]> {
  const wanted = lists.around(matches, scope, reach);
  const found = await tables.entries(wanted);
  const byThread = Map.groupBy(found, ({ thread }) => (scope.kind === "thread" ? scope.thread : thread));
  const kept: Entry[] = [];
  for (const [thread, entries] of byThread) {
    const sessions = new Map(entries.map(({ ordinal, session }) => [ordinal, session]));
    // Within one thread scope ordinals run on through its stretches, so the matches of all of them are one set.
    const own =
      scope.kind === "thread" ? new Set([...matches.values()].flatMap((set) => [...set])) : matches.get(thread)!;
    for (const entry of entries) {
      for (let at = entry.ordinal - reach; at <= entry.ordinal + reach; at += 1) {
        if (sessions.get(at) !== entry.session || !own.has(at)) continue;
        kept.push(entry);
        break;
      }
    }
  }
  return kept;
}

/** The posting rows of one request, read block by block when they are needed. */
class PostingLists {
  readonly #rows = new Map<string, Map<string, Map<number, string>>>();
  readonly #read = new Map<string, ReadonlyMap<number, number>>();
  readonly #rowsOf = new Map<string, ReadonlyMap<number, number>[]>();
  readonly #stretches: readonly Stretch[];
  readonly #blocks: { thread: string; block: number }[] = [];

  constructor(rows: readonly Posting[], stretches: readonly Stretch[]) {
    this.#stretches = stretches;
    const seen = new Set<string>();
    for (const { thread, term, block, list } of rows) {
      const terms = this.#rows.get(thread) ?? new Map<string, Map<number, string>>();
      this.#rows.set(thread, terms);
      const blocks = terms.get(term) ?? new Map<number, string>();
      terms.set(term, blocks);
      blocks.set(block, list);
      const key = `${block} ${thread}`;
      if (!seen.has(key)) this.#blocks.push({ thread, block });
      seen.add(key);
    }
  }

  blocks(): readonly { readonly thread: string; readonly block: number }[] {
    return this.#blocks;
  }

  /** Ordinals in the block whose entries hold all of the terms. */
  holding(thread: string, block: number, terms: readonly string[]): number[] {
    const maps = terms.map((term) => this.#places(thread, term, block));
    const [first, ...others] = maps.sort((a, b) => a.size - b.size);
    return [...first!.keys()].filter((ordinal) => others.every((map) => map.has(ordinal)));
  }

  /** The weight of each term in the entry; `terms` must be the same list each time. */
  weights({ thread, ordinal }: Entry, terms: readonly string[]): number[] {
    const block = blockOf(ordinal);
    const key = `${block} ${thread}`;
    const places = this.#rowsOf.get(key) ?? terms.map((term) => this.#places(thread, term, block));
    this.#rowsOf.set(key, places);
    return places.map((map) => map.get(ordinal) ?? 0);
  }

  /** Which entries to ask for: a fork's neighbours may stand in the thread it came from, and the other way round. */
  around(matches: ReadonlyMap<string, ReadonlySet<number>>, scope: Scope, reach: number) {
    const asked = new Map<string, Set<number>>();
    for (const [thread, ordinals] of matches) {
      for (const ordinal of ordinals) {
        for (let at = Math.max(0, ordinal - reach); at <= ordinal + reach; at += 1) {
          const owner = scope.kind === "user" ? thread : this.#ownerOf(at);
          const set = asked.get(owner) ?? new Set<number>();
          asked.set(owner, set.add(at));
        }
      }
    }
    return [...asked].map(([thread, set]) => ({ thread, ordinals: [...set] }));
  }

  /** The first stretch, oldest first, that reaches this far. */
  #ownerOf(ordinal: number): string {
    return this.#stretches.find(({ cut }) => cut === null || ordinal <= cut)!.thread;
  }

  #places(thread: string, term: string, block: number): ReadonlyMap<number, number> {
    const key = `${block} ${thread} ${term}`;
    const known = this.#read.get(key);
    if (known) return known;
    const places = new Map<number, number>();
    const list = this.#rows.get(thread)?.get(term)?.get(block);
    const cut = this.#stretches.find((one) => one.thread === thread)?.cut ?? Number.MAX_SAFE_INTEGER;
    if (list !== undefined) {
      readPostings(block, list, (ordinal, weight) => {
        if (ordinal <= cut) places.set(ordinal, weight);
      });
    }
    this.#read.set(key, places);
    return places;
  }
}

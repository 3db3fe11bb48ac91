/**
 * Core's index port over a store's recall tables: exact counts, and the candidates of each seek with their neighbours.
 * It expects an index that is up to date (`catch-up.ts`) and never ranks.
 */
import type { IndexedDoc, RecallIndex, Scope, ScopeStatistics } from "@palimpsest/core/recall";
import {
  type IndexedSegment,
  type OrdinalRange,
  POOL,
  type SearchEntry,
  type SearchTables,
} from "../stores/search-tables.ts";
import { FEW_BLOCKS, type Piece, PostingLists, type PostingScope, type TermValues } from "./posting-lists.ts";
import { type Matches, seekAll } from "./seek.ts";

/** For one search: `searched` is what its scope stands for, and the postings of its terms are read once. */
export function storedIndex(tables: SearchTables, searched: PostingScope, fewBlocks = FEW_BLOCKS): RecallIndex {
  let last: { readonly terms: string; readonly lists: Promise<PostingLists> } | undefined;
  const listsOf = (terms: readonly string[]): Promise<PostingLists> => {
    const key = JSON.stringify(terms);
    if (last?.terms !== key) last = { terms: key, lists: PostingLists.read(tables, searched, terms, fewBlocks) };
    return last.lists;
  };
  return {
    statistics: async (_scope, terms) => statistics(tables, searched, await listsOf(terms)),
    candidates: async (scope, request) => {
      const lists = await listsOf(request.terms);
      const matches = await seekAll(lists, newestPieces(lists, searched), request);
      const located = await locate(tables, lists, matches);
      const segments = searched.kind === "thread" ? searched.segments : [];
      const entries = await withNeighbours(tables, segments, scope, located, request.reach);
      // In a thread scope what a fork inherited is its own.
      const weights = await lists.weights(entries);
      return entries.map((entry, index) =>
        document(entry, scope.kind === "thread" ? scope.threadId : entry.threadId, weights[index]!),
      );
    },
  };
}

/** Places of the pool become their threads' ordinals. */
async function locate(tables: SearchTables, lists: PostingLists, matches: Matches): Promise<Matches> {
  const places = matches.get(POOL);
  if (places === undefined) return matches;
  const located = new Map([...matches].flatMap(([id, ordinals]) => (id === POOL ? [] : [[id, new Set(ordinals)]])));
  const slots = await tables.pool.locate([...places]);
  lists.learn(slots);
  for (const { threadId, ordinal, first, size } of slots) {
    const own = located.get(threadId) ?? new Set();
    for (let at = 0; at < size; at += 1) if (places.has(first + at)) own.add(ordinal + at);
    if (own.size > 0) located.set(threadId, own);
  }
  return located;
}

/** Spelled out: there are thousands of them, and a spread costs more than the rest of the work on each. */
function document(entry: SearchEntry, threadId: string, { frequencies, passages }: TermValues): IndexedDoc {
  const { seq, ordinal, session, at, speaker, length, asks } = entry;
  return {
    threadId,
    seq,
    ordinal,
    session,
    at,
    speaker,
    length,
    asks,
    frequencies,
    passages,
  };
}

async function statistics(tables: SearchTables, searched: PostingScope, lists: PostingLists): Promise<ScopeStatistics> {
  const holding = lists.holding();
  if (searched.kind === "user") return { entries: searched.user.entries, totalLength: searched.user.length, holding };
  let [entries, totalLength] = [0, 0];
  for (const { threadId, cut, ...own } of searched.segments) {
    const totals = cut === null ? own : await tables.totals(threadId, cut);
    entries += totals.entries;
    totalLength += totals.length;
  }
  return { entries, totalLength, holding };
}

/** The matches and their neighbors within reach in the same session. */
async function withNeighbours(
  tables: SearchTables,
  segments: readonly IndexedSegment[],
  scope: Scope,
  matches: Matches,
  reach: number,
): Promise<SearchEntry[]> {
  // Ordinals continue from segment to segment: a fork's neighbors may be in the thread it came from.
  const groups: Matches =
    scope.kind === "user"
      ? matches
      : new Map([[scope.threadId, new Set([...matches.values()].flatMap((set) => [...set]))]]);
  const ranges = [...groups].flatMap(([threadId, ordinals]) => around(threadId, ordinals, reach));
  const wanted = scope.kind === "user" ? ranges : ranges.flatMap((range) => alongSegments(range, segments));
  const byThread = Map.groupBy(await tables.entries(wanted), ({ threadId }) =>
    scope.kind === "user" ? threadId : scope.threadId,
  );
  return [...byThread].flatMap(([threadId, entries]) => inReach(entries, groups.get(threadId)!, reach));
}

function inReach(entries: readonly SearchEntry[], matches: ReadonlySet<number>, reach: number): SearchEntry[] {
  const sessions = new Map(entries.map(({ ordinal, session }) => [ordinal, session]));
  return entries.filter(({ ordinal, session }) => {
    for (let at = ordinal - reach; at <= ordinal + reach; at += 1) {
      if (matches.has(at) && sessions.get(at) === session) return true;
    }
    return false;
  });
}

/** The matches with their surroundings, as ranges that don't overlap. */
function around(threadId: string, ordinals: ReadonlySet<number>, reach: number): OrdinalRange[] {
  const ranges: { threadId: string; first: number; last: number }[] = [];
  for (const ordinal of [...ordinals].sort((a, b) => a - b)) {
    const before = ranges.at(-1);
    if (before && ordinal - reach <= before.last + 1) before.last = ordinal + reach;
    else ranges.push({ threadId, first: Math.max(0, ordinal - reach), last: ordinal + reach });
  }
  return ranges;
}

/** A range of the scope's ordinals, cut where the entries pass from one thread to the next. */
export function alongSegments({ first, last }: OrdinalRange, segments: readonly IndexedSegment[]): OrdinalRange[] {
  const ranges: OrdinalRange[] = [];
  let from = first;
  for (const { threadId, cut } of segments) {
    const to = Math.min(last, cut ?? last);
    if (from <= to) ranges.push({ threadId, first: from, last: to });
    from = Math.max(from, to + 1);
  }
  return ranges;
}

/** Pieces with any of the terms, newest first: in a thread's lineage the later segment, among a user's threads by when they were last spoken in. */
function newestPieces(lists: PostingLists, searched: PostingScope): readonly Piece[] {
  if (searched.kind === "thread") {
    const rank = new Map(searched.segments.map(({ threadId }, index) => [threadId, -index]));
    return [...lists.pieces()].sort((a, b) => rank.get(a.threadId)! - rank.get(b.threadId)! || b.first - a.first);
  }
  const { times, large } = searched.user;
  const spoken = new Map(large.map(({ threadId, newest }) => [threadId, newest?.at ?? ""]));
  const timeOf = ({ source, block }: Piece) => (source === POOL ? times.get(block) : spoken.get(source)) ?? "";
  const timed = lists.pieces().map((piece) => ({ piece, time: timeOf(piece) }));
  timed.sort((a, b) => {
    if (a.time !== b.time) return a.time > b.time ? -1 : 1;
    if (a.piece.source !== b.piece.source) return a.piece.source < b.piece.source ? -1 : 1;
    return b.piece.first - a.piece.first;
  });
  return timed.map(({ piece }) => piece);
}

/**
 * Core's index port over a store's recall tables: exact counts, and the candidates of each seek with their neighbours.
 * It expects an index that is up to date (`catch-up.ts`) and never ranks.
 */
import type { IndexedDoc, RecallIndex, Scope, ScopeStatistics } from "@palimpsest/core/recall";
import type { IndexedSegment, OrdinalRange, SearchEntry, SearchTables } from "../stores/search-tables.ts";
import { FEW_BLOCKS, type Piece, PostingLists } from "./posting-lists.ts";
import { type Matches, seekAll } from "./seek.ts";

/** For one search: `segments` are those of its scope, and the postings of its terms are read once. */
export function storedIndex(
  tables: SearchTables,
  segments: readonly IndexedSegment[],
  fewBlocks = FEW_BLOCKS,
): RecallIndex {
  let last: { readonly terms: string; readonly lists: Promise<PostingLists> } | undefined;
  const listsOf = (terms: readonly string[]): Promise<PostingLists> => {
    const key = JSON.stringify(terms);
    if (last?.terms !== key) last = { terms: key, lists: PostingLists.read(tables, segments, terms, fewBlocks) };
    return last.lists;
  };
  return {
    statistics: async (_scope, terms) => statistics(tables, segments, await listsOf(terms)),
    candidates: async (scope, request) => {
      const lists = await listsOf(request.terms);
      const matches = await seekAll(lists, newestPieces(lists, segments, scope), request);
      const entries = await withNeighbours(tables, segments, scope, matches, request.reach);
      // In a thread scope what a fork inherited is its own.
      const weights = await lists.weights(entries);
      return entries.map((entry, index) =>
        document(entry, scope.kind === "thread" ? scope.threadId : entry.threadId, weights[index]!),
      );
    },
  };
}

/** Spelled out: there are thousands of them, and a spread costs more than the rest of the work on each. */
function document(entry: SearchEntry, threadId: string, frequencies: readonly number[]): IndexedDoc {
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
  };
}

async function statistics(
  tables: SearchTables,
  segments: readonly IndexedSegment[],
  lists: PostingLists,
): Promise<ScopeStatistics> {
  let [entries, totalLength] = [0, 0];
  for (const { threadId, cut, ...own } of segments) {
    const totals = cut === null ? own : await tables.totals(threadId, cut);
    entries += totals.entries;
    totalLength += totals.length;
  }
  return { entries, totalLength, holding: lists.holding() };
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
function alongSegments({ first, last }: OrdinalRange, segments: readonly IndexedSegment[]): OrdinalRange[] {
  const ranges: OrdinalRange[] = [];
  let from = first;
  for (const { threadId, cut } of segments) {
    const to = Math.min(last, cut ?? last);
    if (from <= to) ranges.push({ threadId, first: from, last: to });
    from = Math.max(from, to + 1);
  }
  return ranges;
}

/** Pieces with any of the terms, newest first: in a thread's lineage the later segment, among a user's threads the one with the newest message. */
function newestPieces(lists: PostingLists, segments: readonly IndexedSegment[], scope: Scope): readonly Piece[] {
  const order = scope.kind === "thread" ? [...segments].reverse() : [...segments].sort(lastSpoken);
  const rank = new Map(order.map(({ threadId }, index) => [threadId, index]));
  return [...lists.pieces()].sort((a, b) => rank.get(a.threadId)! - rank.get(b.threadId)! || b.first - a.first);
}

function lastSpoken(a: IndexedSegment, b: IndexedSegment): number {
  const [at, other] = [a.newest?.at ?? "", b.newest?.at ?? ""];
  if (at !== other) return at > other ? -1 : 1;
  return a.threadId < b.threadId ? -1 : 1;
}

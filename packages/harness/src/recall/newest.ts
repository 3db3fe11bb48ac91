/**
 * Finds the newest entries that hold all of a seek's terms, block by block from the newest on, so that a common word
 * costs its limit and not its frequency.
 */
import type { Scope, Seek } from "@palimpsest/core/recall";
import type { IndexedSegment } from "../stores/search-tables.ts";
import type { BlockPlace, PostingLists } from "./posting-lists.ts";

export interface Match {
  readonly thread: string;
  readonly ordinal: number;
}

/** Blocks with any of the terms, newest first: in a thread's lineage the later segment, among a user's threads the one with the newest message. */
export function newestBlocks(
  lists: PostingLists,
  segments: readonly IndexedSegment[],
  scope: Scope,
): readonly BlockPlace[] {
  const order = scope.kind === "thread" ? [...segments].reverse() : [...segments].sort(lastSpoken);
  const rank = new Map(order.map(({ thread }, index) => [thread, index]));
  return [...lists.blocks()].sort((a, b) => rank.get(a.thread)! - rank.get(b.thread)! || b.block - a.block);
}

export function newestMatches(lists: PostingLists, blocks: readonly BlockPlace[], { all, limit }: Seek): Match[] {
  const found: Match[] = [];
  for (const { thread, block } of blocks) {
    for (const ordinal of lists.matches({ thread, block }, all).reverse()) found.push({ thread, ordinal });
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

function lastSpoken(a: IndexedSegment, b: IndexedSegment): number {
  const [at, other] = [a.newest?.at ?? "", b.newest?.at ?? ""];
  if (at !== other) return at > other ? -1 : 1;
  return a.thread < b.thread ? -1 : 1;
}

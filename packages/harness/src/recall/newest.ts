/**
 * Finds the newest entries that hold all of a seek's terms, block by block from the newest on, so that a common word
 * costs its limit and not its frequency.
 */
import type { Scope, Seek } from "@palimpsest/core/recall";
import type { RecallTables, Stretch } from "../stores/recall-tables.ts";
import type { BlockPlace, PostingLists } from "./posting-lists.ts";

export interface Match {
  readonly thread: string;
  readonly ordinal: number;
}

interface DatedMatch extends Match {
  readonly at: string;
  readonly seq: number;
}

interface DatedBlock extends BlockPlace {
  /** The newest time in it; empty where the order of the blocks says enough. */
  readonly newest: string;
}

/** Blocks with any of the terms, newest first: in a thread the later block, among threads by the clock. */
export async function newestBlocks(
  tables: RecallTables,
  stretches: readonly Stretch[],
  scope: Scope,
  lists: PostingLists,
): Promise<DatedBlock[]> {
  const places = lists.blocks();
  if (scope.kind === "thread") {
    const order = new Map(stretches.map((stretch, index) => [stretch.thread, index]));
    const sorted = [...places].sort((a, b) => order.get(b.thread)! - order.get(a.thread)! || b.block - a.block);
    return sorted.map((place) => ({ ...place, newest: "" }));
  }
  const held = new Set(places.map(({ thread, block }) => `${block} ${thread}`));
  const dated = await tables.blocks([...new Set(places.map(({ thread }) => thread))]);
  return dated
    .filter(({ thread, block }) => held.has(`${block} ${thread}`))
    .sort((a, b) => (a.newest < b.newest ? 1 : a.newest > b.newest ? -1 : 0));
}

/** In a thread the order of the blocks is the order of what is sought, so the first `limit` are the newest. */
export function newestInThread(lists: PostingLists, blocks: readonly DatedBlock[], { all, limit }: Seek): Match[] {
  const found: Match[] = [];
  for (const { thread, block } of blocks) {
    for (const ordinal of lists.matches({ thread, block }, all).reverse()) found.push({ thread, ordinal });
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** By the clock, an older block may still hold something newer than the worst so far. */
export async function newestOfUser(
  tables: RecallTables,
  lists: PostingLists,
  blocks: readonly DatedBlock[],
  { all, limit }: Seek,
): Promise<Match[]> {
  let best: DatedMatch[] = [];
  let waiting: Match[] = [];
  const settle = async () => {
    const ranges = waiting.map(({ thread, ordinal }) => ({ thread, first: ordinal, last: ordinal }));
    if (ranges.length > 0) best = [...best, ...(await tables.entries(ranges))].sort(byTime).slice(0, limit);
    waiting = [];
  };
  for (const place of blocks) {
    if (best.length + waiting.length >= limit) await settle();
    if (best.length >= limit && place.newest < best.at(-1)!.at) break;
    for (const ordinal of lists.matches(place, all)) waiting.push({ thread: place.thread, ordinal });
  }
  await settle();
  return best;
}

function byTime(a: DatedMatch, b: DatedMatch): number {
  if (a.at !== b.at) return a.at > b.at ? -1 : 1;
  if (a.thread !== b.thread) return a.thread < b.thread ? -1 : 1;
  return b.seq - a.seq;
}

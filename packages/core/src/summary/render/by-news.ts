/** Which facts to keep when not all of them fit: an order, computed once per rendering. */
import { newsOf } from "../extract/choose.ts";
import type { SummaryItem } from "../state/state.ts";

/**
 * Most new names per character first: when facts must go, those that repeat what others say go first. Scores only fall
 * as names get shown, so a score that still leads after being taken anew is the best one.
 */
export function byNews(items: readonly SummaryItem[]): number[] {
  const news = items.map(({ text }) => newsOf(text));
  const shownIds = new Set<string>();
  const score = (index: number) => {
    const fresh = news[index]!.reduce((sum, name) => sum + (shownIds.has(name) ? 0 : 1), 0);
    return (fresh + 0.5) / (items[index]!.text.length + 20);
  };
  // Best last; of equals the newer one is better.
  const queue = items
    .map((_, index) => ({ index, score: score(index) }))
    .sort((a, b) => a.score - b.score || a.index - b.index);
  const order: number[] = [];
  for (let best = queue.pop(); best !== undefined; best = queue.pop()) {
    const fresh = score(best.index);
    if (fresh < best.score && queue.length > 0 && fresh < queue.at(-1)!.score) {
      let at = queue.length;
      while (at > 0 && queue[at - 1]!.score > fresh) at--;
      queue.splice(at, 0, { index: best.index, score: fresh });
      continue;
    }
    order.push(best.index);
    for (const name of news[best.index]!) shownIds.add(name);
  }
  return order;
}

/** The threads a command is about: a user's or all users', by age, by pattern. */
import * as threads from "palimpsest/internal/thread-operations";
import { everyThread as everyStoredThread, everyUser, type Store, type ThreadSummary } from "palimpsest/stores";
import type { Acts } from "./home.ts";

export interface ThreadFilter {
  readonly limit?: number | undefined;
  readonly all?: boolean | undefined;
  /** In days since the last change. */
  readonly olderThan?: number | undefined;
  readonly now?: Date;
}

/** Of the user's, here or at a gateway, the most recently changed first. */
export async function everyThread(
  acts: Pick<Acts, "call" | "signal">,
  filter: Omit<ThreadFilter, "all">,
): Promise<readonly threads.ListedThread[]> {
  const { limit = Number.POSITIVE_INFINITY } = filter;
  const before = changedBefore(filter);
  const rows: threads.ListedThread[] = [];
  let after: string | null | undefined;
  while (after !== null && rows.length < limit) {
    acts.signal.throwIfAborted();
    const most = before === null ? Math.min(PAGE, limit - rows.length) : PAGE;
    const empty = { threads: [], next: null };
    const page = await acts.call(threads.listThreads, { limit: most, after }, { empty });
    rows.push(...page.threads.filter(({ updatedAt }) => before === null || updatedAt < before));
    after = page.next;
  }
  return rows.slice(0, limit);
}

/** The most recently changed first. */
export async function listThreads(store: Store, filter: ThreadFilter): Promise<readonly ThreadSummary[]> {
  const { limit = Number.POSITIVE_INFINITY } = filter;
  const before = changedBefore(filter);
  const summaries: ThreadSummary[] = [];
  const stores = filter.all === true ? everyUser(store) : [store];
  for await (const own of stores) {
    let count = 0;
    for await (const summary of everyStoredThread(own, { order: "recent" })) {
      if (before === null || summary.updatedAt < before) summaries.push(summary);
      count += 1;
      if (before === null && count >= limit) break;
    }
  }
  return summaries.sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1)).slice(0, limit);
}

/** Null: whenever it was. */
function changedBefore({ olderThan, now = new Date() }: ThreadFilter): string | null {
  return olderThan === undefined ? null : new Date(now.getTime() - olderThan * DAY_MS).toISOString();
}

/** `*` stands for any number of characters. */
export function matcherOf(pattern: string): (id: string) => boolean {
  if (!pattern.includes("*")) return (id) => id === pattern;
  const [first = "", ...rest] = pattern.split("*");
  return (id) => {
    if (!id.startsWith(first)) return false;
    let at = first.length;
    for (const [index, piece] of rest.entries()) {
      const isLast = index === rest.length - 1;
      const next = isLast ? id.length - piece.length : id.indexOf(piece, at);
      if (next < at || !id.startsWith(piece, next)) return false;
      at = next + piece.length;
    }
    return true;
  };
}

const PAGE = 500;
const DAY_MS = 24 * 60 * 60 * 1000;

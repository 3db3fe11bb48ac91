/** The threads a command is about: a user's or everybody's, by age, by pattern. */
import { everyUser, type Store, type ThreadSummary } from "palimpsest/stores";

export interface ThreadFilter {
  readonly limit?: number;
  readonly all?: boolean;
  /** In days since the last change. */
  readonly olderThan?: number | undefined;
  readonly now?: Date;
}

/** The most recently changed first. */
export async function listThreads(store: Store, filter: ThreadFilter): Promise<readonly ThreadSummary[]> {
  const { limit = Number.POSITIVE_INFINITY, olderThan, now = new Date() } = filter;
  const before = olderThan === undefined ? null : new Date(now.getTime() - olderThan * DAY_MS).toISOString();
  const isOld = ({ updatedAt }: ThreadSummary) => before === null || updatedAt < before;
  const summaries: ThreadSummary[] = [];
  const stores = filter.all === true ? everyUser(store) : [store];
  for await (const own of stores)
    summaries.push(...(await ofUser(own, before === null ? limit : Number.POSITIVE_INFINITY)));
  return summaries
    .filter(isOld)
    .sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
    .slice(0, limit);
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

async function ofUser(store: Store, limit: number): Promise<readonly ThreadSummary[]> {
  const summaries: ThreadSummary[] = [];
  let after: string | undefined;
  while (summaries.length < limit) {
    const page = await store.threads({
      limit: Math.min(limit - summaries.length, PAGE),
      ...(after !== undefined && { after }),
    });
    summaries.push(...page.threads);
    if (page.next === null) break;
    after = page.next;
  }
  return summaries;
}

const PAGE = 500;
const DAY_MS = 24 * 60 * 60 * 1000;

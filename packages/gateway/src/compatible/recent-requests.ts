/**
 * The last requests to the compatible endpoints, of each user: counts and hashes, never words. In the memory of this
 * process and bounded, since the log has what matters for good: what was said, and what each answer took.
 */

export interface RequestFacts {
  /** As the answer's `x-request-id`. */
  readonly id: string;
  readonly at: string;
  readonly ms: number;
  readonly path: string;
  /** As the client names it, and as the provider does. */
  readonly model: string;
  readonly upstreamModel: string;
  readonly provider: string;
  readonly stream: boolean;
  readonly mode: "on" | "observe" | "off";
  readonly client: { readonly messages: number; readonly bytes: number; readonly hash: string | null };
  readonly match: "new" | "extended" | "forked" | "passed";
  readonly thread: string | null;
  readonly seq: number | null;
  readonly view: "verbatim" | "compacted";
  /** What went to the provider; null: nothing did, or nothing was counted. */
  readonly upstream: UpstreamFacts | null;
  /** The rung, where this request compacted. */
  readonly compaction: string | null;
  /** Tokens added to its question. */
  readonly evidence: number | null;
  readonly status: number;
  readonly end: "answered" | "aborted" | "refused" | "failed" | "passed";
  readonly usage: RequestUsage | null;
  readonly cacheShare: number | null;
  /** What it cost, by the provider's report; null: not known. */
  readonly cost: number | null;
  /** In mode `observe`: what would have been saved. */
  readonly saved: { readonly tokens: number; readonly cost: number | null };
  readonly currency: "USD" | null;
}

export interface UpstreamFacts {
  readonly messages: number;
  readonly bytes: number | null;
  readonly tokens: number;
  readonly source: string;
  /** What all of it would have counted. */
  readonly whole: number;
}

export interface RequestUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

interface RequestFilter {
  readonly thread?: string | undefined;
  readonly limit: number;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
}

export interface RecentRequests {
  add(userId: string, facts: RequestFacts): void;
  /** Newest first. */
  list(
    userId: string,
    filter: RequestFilter,
  ): { readonly requests: readonly RequestFacts[]; readonly next: string | null };
  get(userId: string, id: string): RequestFacts | null;
  forget(userId: string): void;
}

/** Of one user, and of all. */
const MOST_OF_USER = 500;
const MOST = 10_000;

interface Kept {
  /** Grows with each request. */
  readonly number: number;
  readonly facts: RequestFacts;
}

export function recentRequests(
  most: { readonly ofUser: number; readonly ofAll: number } = { ofUser: MOST_OF_USER, ofAll: MOST },
): RecentRequests {
  /** Whoever asked last stands last. */
  const users = new Map<string, Kept[]>();
  let number = 0;
  let size = 0;
  const of = (userId: string): readonly Kept[] => users.get(userId) ?? [];
  const forget = (userId: string): void => {
    size -= of(userId).length;
    users.delete(userId);
  };
  return {
    add(userId, facts) {
      number += 1;
      const kept = users.get(userId) ?? [];
      users.delete(userId);
      users.set(userId, kept);
      kept.push({ number, facts });
      size += 1;
      if (kept.length > most.ofUser) {
        kept.shift();
        size -= 1;
      }
      while (size > most.ofAll && users.size > 1) forget(users.keys().next().value!);
    },
    list(userId, { thread, limit, after }) {
      const before = after === undefined ? Number.POSITIVE_INFINITY : Number(after);
      const fitting = of(userId).filter(
        (one) => one.number < before && (thread === undefined || one.facts.thread === thread),
      );
      const page = fitting.slice(-limit).toReversed();
      const next = fitting.length > page.length ? String(page.at(-1)!.number) : null;
      return { requests: page.map(({ facts }) => facts), next };
    },
    get: (userId, id) => of(userId).findLast(({ facts }) => facts.id === id)?.facts ?? null,
    forget,
  };
}

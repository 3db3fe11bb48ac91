/** Whose store it is: who may be named, that nobody makes a thread for somebody else, and the way through all of them. */
import { checkUser, type ThreadHeader } from "@palimpsest/core/log";
import type { Store, ThreadQuery, ThreadSummary } from "./store.ts";

/** The last check; code that takes a user from people calls `checkUser` first. */
export function assertUser(userId: string): string {
  const check = checkUser(userId);
  if (check.kind === "invalid") throw new TypeError(check.problem);
  return userId;
}

export function ownHeader(userId: string, header: ThreadHeader): ThreadHeader {
  if (header.user === userId) return header;
  throw new TypeError(
    `thread ${header.id} is ${JSON.stringify(header.user)}'s: make it with store.forUser(${JSON.stringify(header.user)})`,
  );
}

/** The store as this user sees it: the very same where it is theirs already, so that a wrapper around it is kept. */
export function asUser<S extends Store>(store: S, userId: string): S {
  // A driver's `forUser` gives a store with the same capabilities.
  return store.userId === userId ? store : (store.forUser(userId) as S);
}

/** For upkeep: the store as each user who has threads sees it. */
export async function* everyUser<S extends Store>(store: S): AsyncGenerator<S> {
  for (let last: string | undefined; ; ) {
    const page = await store.users(last);
    for (const userId of page) yield asUser(store, userId);
    last = page.at(-1);
    if (last === undefined) return;
  }
}

/** Every thread of the store's user; unless told otherwise oldest first, so that a parent comes before its forks. */
export async function* everyThread(
  store: Store,
  { order = "created", ...query }: Pick<ThreadQuery, "kind" | "order"> = {},
): AsyncGenerator<ThreadSummary> {
  for (let after: string | null | undefined; after !== null; ) {
    const page = await store.threads({ ...query, order, limit: 200, ...(after !== undefined && { after }) });
    yield* page.threads;
    after = page.next;
  }
}

/**
 * Where a conversation goes on once an answer was asked for again or a message said anew. The fork has an id of its own; a
 * chat keeps the id it began with. So the thread's state says which fork it is, until somebody goes on in the thread itself.
 */
import type { Head } from "@palimpsest/core/log";
import type { Store } from "../stores/store.ts";

const KEY = "continued";

interface Continued {
  /** Whose state it is: forks begin with what their parent's says. */
  readonly thread: string;
  readonly fork: string;
  /** How many messages the thread had. */
  readonly messages: number;
}

export function continuedPatch(threadId: string, { messages }: Head, fork: string): Head["state"] {
  const continued: Continued = { thread: threadId, fork, messages };
  return { [KEY]: continued };
}

/** The fork of a fork, and so on, that the conversation goes on in; the thread itself where there is none. */
export async function currentThread(store: Store, threadId: string): Promise<string> {
  let id = threadId;
  let head = await store.head(id);
  while (head !== undefined) {
    const fork = continuedIn(id, head);
    const next = fork === null ? undefined : await store.head(fork);
    if (fork === null || next === undefined) return id;
    [id, head] = [fork, next];
  }
  return id;
}

/** The thread that this one was left for; null while it is gone on with itself. */
export function continuedIn(id: string, { state, messages }: Head): string | null {
  const continued = state[KEY] as Continued | undefined;
  return continued?.thread === id && continued.messages === messages ? continued.fork : null;
}

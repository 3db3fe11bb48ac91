/**
 * Threads that were left open, for whoever opens one of them next. One is in one user's hands at a time. What is kept is
 * never trusted: whoever takes it compares it with the log's head and its chain.
 */

/** By keys that name a user, a thread and what else tells two of them apart. */
export interface LeftOpen<T> {
  take(key: string): T | null;
  leave(key: string, thread: T): void;
  /** Lets go of all of them; what is left from here on isn't kept. */
  close(): Promise<void>;
}

/** Whatever the number of threads, only so many stay in memory; of the others `letGo` hears. */
export function leftOpen<T>(most: number, letGo: (thread: T) => unknown = () => {}): LeftOpen<T> {
  const threads = new Map<string, T>();
  let kept = most;
  const drop = (key: string, thread: T): unknown => {
    threads.delete(key);
    return letGo(thread);
  };
  return {
    take(key) {
      const thread = threads.get(key) ?? null;
      threads.delete(key);
      return thread;
    },
    leave(key, thread) {
      const other = threads.get(key);
      if (other !== undefined) drop(key, other);
      threads.set(key, thread);
      for (const [oldest, one] of threads) {
        if (threads.size <= kept) return;
        drop(oldest, one);
      }
    },
    async close() {
      kept = 0;
      await Promise.all([...threads].map(([key, thread]) => drop(key, thread)));
    },
  };
}

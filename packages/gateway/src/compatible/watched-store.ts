/** A store whose silence is an error: an endpoint that only passes words on must not wait for it. */
import { PalimpsestError } from "@palimpsest/core/errors";
import type { AppendBatch, Store } from "palimpsest/stores";

class SilentStoreError extends PalimpsestError<"store-silent"> {
  static override readonly kind = "SilentStoreError";
}

/** A long history takes its time to be written: each record adds a millisecond. */
export function watchedStore(store: Store, silenceMs: number): Store {
  const capability = <T extends object>(given: T | undefined): T | undefined => given && watched(given, silenceMs);
  const { search, drafts, prompts, matches } = store;
  return {
    ...watched(store, silenceMs),
    append: (threadId: string, batch: AppendBatch) =>
      within(silenceMs + batch.records.length, "append", () => store.append(threadId, batch)),
    async acquireLease(threadId, owner, ttlMs) {
      const taking = store.acquireLease(threadId, owner, ttlMs);
      try {
        return await within(silenceMs, "acquireLease", () => taking);
      } catch (error) {
        // Nobody would give it back, and the thread would be held until its time is up.
        void taking.then((late) => (late.kind === "acquired" ? store.releaseLease(late.lease) : null)).catch(() => {});
        throw error;
      }
    },
    async *records(thread, query) {
      const rows = store.records(thread, query)[Symbol.asyncIterator]();
      for (;;) {
        const row = await within(silenceMs, "records", () => rows.next());
        if (row.done) return;
        yield row.value;
      }
    },
    forUser: (user) => (user === store.userId ? watchedStore(store, silenceMs) : store.forUser(user)),
    ...(search && { search: capability(search)! }),
    ...(drafts && { drafts: capability(drafts)! }),
    ...(prompts && { prompts: capability(prompts)! }),
    ...(matches && { matches: capability(matches)! }),
  };
}

function watched<T extends object>(given: T, silenceMs: number): T {
  const entries = Object.entries(given).map(([name, value]) => {
    if (typeof value !== "function") return [name, value];
    return [name, (...args: unknown[]) => within(silenceMs, name, () => value.apply(given, args))];
  });
  return Object.fromEntries(entries) as T;
}

async function within<T>(ms: number, what: string, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new SilentStoreError("store-silent", `the store has not answered ${what} for ${ms} ms`)),
      ms,
    );
  });
  try {
    return await Promise.race([work(), silence]);
  } finally {
    clearTimeout(timer);
  }
}

/** Builds search indexes behind a gateway or a worker, and says how far it is. */
import type { Home } from "palimpsest/internal/home";
import { type IndexingEvent, startIndexing } from "palimpsest/recall";
import type { IndexLine } from "./log.ts";
import type { Sweeping } from "./retention.ts";

export interface BuildingOptions {
  readonly clock: () => Date;
  readonly log: (line: IndexLine) => void;
}

/** Where the store can't be asked, that is told, and nothing is built here. */
export function buildIndexes({ store }: Home, { clock, log }: BuildingOptions): Sweeping {
  const tellTenths = tenths();
  const tell = (event: IndexingEvent): void => {
    const line = tellTenths(event);
    if (line !== null) log({ time: clock().toISOString(), ...line });
  };
  const started = startIndexing(store, { clock, onEvent: tell }).catch((error: unknown) => {
    tell({ type: "index-fail", userId: store.userId, threadId: null, reason: String(error) });
    return null;
  });
  return {
    async stop() {
      await (await started)?.stop();
    },
  };
}

/** What of the events is worth a line: each tenth of a thread's records, its end, and what failed. */
export function tenths(): (event: IndexingEvent) => Omit<IndexLine, "time"> | null {
  const told = new Map<string, number>();
  return (event) => {
    const { threadId: thread, userId: user } = event;
    const name = JSON.stringify([user, thread]);
    if (event.type === "index-fail") return { level: "error", user, thread, index: "failed", error: event.reason };
    if (event.type === "index-end") return told.delete(name) ? { level: "info", user, thread, index: "built" } : null;
    const { indexed, records } = event;
    const tenth = Math.floor((indexed * 10) / Math.max(1, records));
    // What is built at once, or was already, is no news.
    if (indexed >= records || told.get(name) === tenth) return null;
    told.set(name, tenth);
    return { level: "info", user, thread, index: "building", indexed, records };
  };
}

/**
 * A stream of changes for a page that is open: threads that were written to, that runs are under way on, or that are gone.
 * The store is polled, since another process may be the one that writes. Without followers nothing is polled.
 */

import type { Home } from "palimpsest/internal/home";
import { threadRow } from "palimpsest/internal/thread-operations";
import { z } from "zod";
import { type After, EventStream, eventText } from "../http/event-stream.ts";
import { type Route, route } from "../http/route.ts";
import type { Runs } from "../runs/registry.ts";

export interface ChangesDeps {
  readonly runs: Pick<Runs, "on">;
  readonly after: After;
  readonly closing: AbortSignal;
}

type Row = ReturnType<typeof threadRow> & { readonly run: string | null };

/** Readers see a change after about this time at the latest. */
const EVERY_MS = 1000;
/** Only what was changed last can have changed since. */
const NEWEST = 100;

export function changesRoutes(deps: ChangesDeps): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/changes",
      summary:
        "The caller's threads that change from now on, as events: {threads, gone}; the first has those that runs are under way on",
      access: "user",
      streams: "always",
      answer: z.string(),
      async handle({ home }) {
        const left = new AbortController();
        const ended = AbortSignal.any([left.signal, deps.closing]);
        return new EventStream(changes(home, deps, ended), { onLeave: () => left.abort() });
      },
    }),
  ];
}

async function* changes(home: Home, { runs, after }: ChangesDeps, ended: AbortSignal): AsyncGenerator<string> {
  let known = await newest(home, runs);
  yield told([...known.values()].filter(({ run }) => run !== null));
  while (!ended.aborted) {
    await pause(after, ended);
    if (ended.aborted) return;
    const now = await newest(home, runs);
    const threads = [...now.values()].filter((row) => !isSame(row, known.get(row.id)));
    const gone = await missingOf(
      home,
      [...known.keys()].filter((id) => !now.has(id)),
    );
    if (threads.length > 0 || gone.length > 0) yield told(threads, gone);
    known = now;
  }
}

function told(threads: readonly Row[], gone: readonly string[] = []): string {
  return eventText(JSON.stringify({ threads, gone }));
}

async function newest(home: Home, runs: ChangesDeps["runs"]): Promise<ReadonlyMap<string, Row>> {
  const { threads } = await home.store.threads({ limit: NEWEST });
  const rows = threads.map((summary): Row => {
    const run = runs.on(home.userId, summary.header.id);
    return { ...threadRow(summary), run: run?.facts.id ?? null };
  });
  return new Map(rows.map((row) => [row.id, row]));
}

function isSame(row: Row, before: Row | undefined): boolean {
  return before?.updatedAt === row.updatedAt && before.messages === row.messages && before.run === row.run;
}

/** Some were only pushed out by others. */
async function missingOf(home: Home, ids: readonly string[]): Promise<readonly string[]> {
  const headers = await Promise.all(ids.map((id) => home.store.header(id)));
  return ids.filter((_, index) => headers[index] === undefined);
}

function pause(after: After, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = after(EVERY_MS, () => {
      ended.removeEventListener("abort", leave);
      resolve();
    });
    const leave = () => {
      stop();
      resolve();
    };
    ended.addEventListener("abort", leave, { once: true });
  });
}

/** Indexes that are built in the background: whatever happens meanwhile, they end as if they had been built at once. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import { type PostgresServer, startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { type Random, random } from "@palimpsest/testing/internal/shapes";
import { say, writeThread } from "@palimpsest/testing/internal/thread-writer";
import { appendUnindexed, indexOf } from "../../test/recall/unindexed.ts";
import { asUser } from "../stores/driver-rules.ts";
import { openStore } from "../stores/open.ts";
import type { SearchableStore } from "../stores/search-tables.ts";
import type { FullStore, Store } from "../stores/store.ts";
import { redact } from "../thread/redact.ts";
import type { Writer } from "../thread/writer.ts";
import { catchUp, indexJob, rebuildIndex } from "./catch-up.ts";
import { type IndexingEvent, indexProgress, startIndexing } from "./indexing.ts";
import { searchAll, searchThread } from "./search.ts";
import { INDEX_QUEUE, SHARE_RECORDS } from "./stored-index.ts";

const folder = mkdtempSync(join(tmpdir(), "palimpsest-indexing-"));
let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const MANY = SHARE_RECORDS + 900;

for (const engine of ["SQLite", "PostgreSQL"] as const) {
  describe(`building an index in the background of ${engine}`, () => {
    const target = (name: string) =>
      engine === "SQLite" ? join(folder, `${name}.db`) : `${server.url()}&schema=${name}`;

    test("a search answers from what is indexed and says how far that is, until the rest is built, for every user", async (t) => {
      const store = await opened(t, target("late"));
      await appendUnindexed(await writeThread(store, "t"), MANY);
      const bob = asUser(store, "bob");
      await appendUnindexed(await writeThread(bob, "of-bob"), MANY);
      for (const search of [() => searchThread(store, "t", `word${MANY - 1}`), () => searchAll(store, "word7")]) {
        await store.search.clear("t");
        const { unindexed = 0, building } = await search();
        assert.ok(unindexed > 0 && unindexed < MANY, "it did its share and no more");
        assert.deepEqual(building, { indexed: MANY - unindexed, records: MANY });
      }
      assert.deepEqual((await store.outbox.list(INDEX_QUEUE)).map(threadOf), ["t"], "asked for once");
      const { threads } = (await indexProgress(store))!;
      assert.equal(threads, 1);
      const { until } = await indexing(t, store);
      await until(({ type }, events) => type === "index-end" && ended(events).size === 2);
      for (const [own, id] of [
        [store, "t"],
        [bob, "of-bob"],
      ] as const) {
        const outcome = await searchThread(own, id, `word${MANY - 1}`);
        assert.equal(outcome.kind === "found" && outcome.hits[0]?.seq, MANY);
        assert.equal(outcome.unindexed, undefined);
      }
      assert.equal(await indexProgress(store), null);
    });

    test("an append of very many messages, such as an import's, indexes all of them: nothing is left to others", async (t) => {
      const store = await opened(t, target("imported"));
      await say(await writeThread(store, "t"), ...Array.from({ length: MANY }, (_, n) => `word${n}`));
      assert.deepEqual(await store.outbox.list(INDEX_QUEUE), []);
      assert.equal((await store.search.lineage("t")).at(-1)!.indexed, MANY);
    });

    test("a rebuild that is stopped goes on where it stood with the next worker, and each thread has one at a time", async (t) => {
      const store = await opened(t, target("stopped"));
      const ids = ["a", "b"];
      for (const id of ids) await appendUnindexed(await writeThread(store, id), MANY);
      for (const id of ids) await catchUp(store, id);
      const whole = await Promise.all(ids.map((id) => indexOf(store, id)));
      for (const id of ids) await store.outbox.queue!(id, indexJob("start", Date.now()));
      const first = await indexing(t, store);
      const { threadId } = await first.until((event) => event.type === "index-progress" && event.indexed > 0);
      await first.stop();
      const others = [await indexing(t, await opened(t, target("stopped"))), await indexing(t, store)];
      await Promise.race(
        others.map(({ until }) => until(async () => (await store.outbox.list(INDEX_QUEUE)).length === 0)),
      );
      const from = others.flatMap(
        ({ events }) => events.find((event) => isProgress(event) && event.threadId === threadId) ?? [],
      );
      assert.ok(
        from.length > 0 && from.every((event) => isProgress(event) && event.indexed > 0),
        "it did not begin again",
      );
      for (const [index, id] of ids.entries()) assert.equal(await indexOf(store, id), whole[index]);
    });
  });
}

test("any order of steps, appends, erasures and ends of a builder leaves the index that is built at once", async (t) => {
  const store = await opened(t, join(folder, "orders.db"));
  for (let seed = 1; seed <= 5; seed += 1) {
    const draw = random(seed);
    const threadId = `t${seed}`;
    const writer = await writeThread(store, threadId);
    for (let step = 0; step < 14; step += 1) await ACTS[draw.int(0, ACTS.length - 1)]!(writer, draw);
    await catchUp(store, threadId);
    const stepwise = await indexOf(store, threadId);
    await rebuildIndex(store, threadId);
    assert.equal(stepwise, await indexOf(store, threadId), `seed ${seed}`);
  }
});

type Act = (writer: Writer, draw: Random) => Promise<unknown>;

const ACTS: readonly Act[] = [
  (writer, draw) => appendUnindexed(writer, draw.int(1, 900), draw),
  (writer, draw) => appendUnindexed(writer, draw.int(1, 40), draw),
  ({ store, lease }) => catchUp(store as SearchableStore, lease.threadId, { most: 1 }),
  // Two at once: one of them writes, the other looks anew.
  ({ store, lease }) => Promise.all([1, 2].map(() => catchUp(store as SearchableStore, lease.threadId, { most: 1 }))),
  // Ended before its batch stands.
  ({ store, lease }) => catchUp(endingAt(store, "write"), lease.threadId).catch(() => {}),
  // Ended after it.
  ({ store, lease }) => catchUp(store as SearchableStore, lease.threadId, { pause: end }).catch(() => {}),
  ({ store, lease }) => store.search!.clear(lease.threadId),
  async (writer, draw) => {
    const { store, lease } = writer;
    const version = (await store.head(lease.threadId))!.version;
    await store.releaseLease(lease);
    await redact(writer, lease.threadId, draw.int(1, Math.max(1, version)));
    const taken = await store.acquireLease(lease.threadId, lease.owner, 30_000);
    assert.ok(taken.kind === "acquired");
    Object.assign(lease, taken.lease);
  },
];

async function end(): Promise<never> {
  throw new Error("ended");
}

function endingAt(store: Store, method: "write"): SearchableStore {
  return { ...store, search: { ...store.search!, [method]: end } };
}

function isProgress(event: IndexingEvent): event is Extract<IndexingEvent, { type: "index-progress" }> {
  return event.type === "index-progress";
}

function ended(events: readonly IndexingEvent[]): Set<string | null> {
  return new Set(events.flatMap((event) => (event.type === "index-end" ? [event.threadId] : [])));
}

function threadOf({ threadId }: { readonly threadId: string }): string {
  return threadId;
}

async function opened(t: TestContext, target: string): Promise<FullStore> {
  const store = await openStore(target);
  t.after(() => store.close());
  return store;
}

type Wanted = (event: IndexingEvent, events: readonly IndexingEvent[]) => boolean | Promise<boolean>;

/** A worker, what it told, and a way to wait for something that it tells. */
async function indexing(t: TestContext, store: Store) {
  const events: IndexingEvent[] = [];
  const waiting = new Set<(event: IndexingEvent) => void>();
  const { stop } = await startIndexing(store, {
    pollMs: 20,
    onEvent(event) {
      events.push(event);
      for (const look of waiting) look(event);
    },
  });
  // A worker that waits keeps no process, and a test that waits for it needs one.
  const alive = setInterval(() => {}, 1000);
  t.after(() => {
    clearInterval(alive);
    return stop();
  });
  const until = (wanted: Wanted) =>
    new Promise<IndexingEvent>((resolve, reject) => {
      const look = async (event: IndexingEvent) => {
        if (await wanted(event, events)) resolve(event);
      };
      waiting.add((event) => void look(event).catch(reject));
      for (const event of events) look(event).catch(reject);
    });
  return { events, until, stop };
}

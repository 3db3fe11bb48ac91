/** The list of threads: filters, order, pages that hold still under writes. */
import assert from "node:assert/strict";
import { commit } from "palimpsest/internal/threads";
import type { Writer } from "palimpsest/session";
import type { Store, ThreadQuery } from "palimpsest/stores";
import { type Cases, freshId, freshThread, say } from "./kit.ts";

export const listCases: Cases = {
  "threads are listed by most recent change, with title and count, for one user": async (suite) => {
    const store = suite.store().forUser(freshId());
    const [a, b] = [await freshThread(store), await freshThread(store)];
    await say(b, "1");
    await say(a, "1", "2", "3");
    await commit(a, [{ kind: "state", patch: { title: "About a" } }]);
    await commit(a, [{ kind: "event", event: { type: "noted" } }]);
    const page = await store.threads();
    assert.deepEqual(
      page.threads.map(({ header, title, messages }) => [header.id, title, messages]),
      [
        [a.lease.threadId, "About a", 3],
        [b.lease.threadId, null, 1],
      ],
    );
    assert.equal(page.next, null);
    assert.deepEqual((await store.threads({ kind: "subagent" })).threads, []);
  },

  "pages by creation miss no thread and repeat none while threads change and appear": async (suite) => {
    const store = suite.store().forUser(freshId());
    const writers: Writer[] = [];
    for (let index = 0; index < 7; index += 1) writers.push(await freshThread(store));
    const seen = await walk(store, { order: "created", limit: 2 }, async (step) => {
      await say(writers[6 - step]!, "moved to the front");
      await freshThread(store);
    });
    assert.deepEqual(
      seen.slice(0, 7),
      writers.map(({ lease }) => lease.threadId),
    );
    assert.equal(new Set(seen).size, seen.length);
  },

  "pages by change repeat no thread while threads change": async (suite) => {
    const store = suite.store().forUser(freshId());
    const writers: Writer[] = [];
    for (let index = 0; index < 6; index += 1) writers.push(await freshThread(store));
    const seen = await walk(store, { limit: 2 }, (step) => say(writers[5 - step]!, "again"));
    assert.equal(new Set(seen).size, seen.length);
    assert.equal(seen.length, 6);
  },

  "a page mark that isn't one is refused": async (suite) => {
    await assert.rejects(suite.store().threads({ after: "nonsense" }), /page/);
  },
};

async function walk(store: Store, query: ThreadQuery, between: (step: number) => Promise<unknown>): Promise<string[]> {
  const seen: string[] = [];
  let after: string | null = null;
  for (let step = 0; step < 4; step += 1) {
    const page: Awaited<ReturnType<Store["threads"]>> = await store.threads({ ...query, ...(after && { after }) });
    seen.push(...page.threads.map(({ header }) => header.id));
    after = page.next;
    if (after === null) break;
    await between(step);
  }
  return seen;
}

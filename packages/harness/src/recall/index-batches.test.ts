// How much of an index one transaction writes: nobody else is served meanwhile.

import assert from "node:assert/strict";
import { test } from "node:test";
import { say, writeThread } from "@palimpsest/testing/internal/thread-writer";
import { countTurns } from "../../test/turns.ts";
import { openSqlite } from "../stores/sqlite.ts";
import { appendMessages } from "../thread/acts.ts";
import { catchUp } from "./catch-up.ts";
import { searchThread } from "./search.ts";

/** Text without a blank in which hardly anything comes twice. */
function chinese(length: number, seed: number): string {
  let state = seed;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return String.fromCharCode(0x4e00 + ((state >> 8) % 6000));
  }).join("");
}

test("text in which every character is a term is indexed in many short transactions", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const texts = Array.from({ length: 60 }, (_, index) => chinese(1000, index + 1));
  await say(await writeThread(store, "t"), ...texts);
  await store.search.clear("t");
  // Each transaction takes as long as work may keep the others waiting.
  const clock = { ms: performance.now() };
  t.mock.method(performance, "now", () => clock.ms);
  const turns = countTurns(t);
  const rows: number[] = [];
  const writtenIn: number[] = [];
  const search: typeof store.search = {
    ...store.search,
    write: (threadId, batch) => {
      rows.push(batch.postings.length + (batch.part?.length ?? 0));
      writtenIn.push(turns());
      clock.ms += 10;
      return store.search.write(threadId, batch);
    },
  };
  await catchUp({ ...store, search }, "t");
  assert.ok(Math.max(...rows) < 10_000, rows.join());
  assert.ok(rows.length > 2, rows.join());
  assert.equal(new Set(writtenIn).size, rows.length, `in the turns ${writtenIn.join()}`);
  const outcome = await searchThread(store, "t", texts[41]!.slice(500, 520));
  assert.equal(outcome.kind === "found" && outcome.hits[0]?.seq, 42);
});

test("results without a call cost one look back for each batch, not one for each result", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const writer = await writeThread(store, "t");
  const results = Array.from({ length: 300 }, (_, index) => ({
    dialect: "openai" as const,
    origin: "user" as const,
    body: { role: "tool", tool_call_id: `call-${index}`, content: `result ${index}` },
  }));
  await appendMessages(writer, results);
  await store.search.clear("t");
  let reads = 0;
  let batches = 0;
  const records: typeof store.records = (...asked) => {
    reads += 1;
    return store.records(...asked);
  };
  const search: typeof store.search = {
    ...store.search,
    write: (threadId, batch) => {
      batches += 1;
      return store.search.write(threadId, batch);
    },
  };
  await catchUp({ ...store, records, search }, "t");
  assert.ok(batches > 0 && reads <= 2 * batches, `${reads} reads in ${batches} batches`);
});

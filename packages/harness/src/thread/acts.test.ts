import assert from "node:assert/strict";
import { test } from "node:test";
import { assertSound, compact, say } from "@palimpsest/testing/internal/kit";
import { writeThread } from "@palimpsest/testing/internal/thread-writer";
import { checkAnySequence } from "../../test/threads/acts.property.ts";
import { openSqlite } from "../stores/sqlite.ts";
import type { Store } from "../stores/store.ts";
import { redo, undo } from "./acts.ts";

test("after any sequence of acts every log verifies, every head equals its fold, replay shows what was said", async () => {
  await checkAnySequence(25);
});

test("an undo and a redo read what they bring back, whatever the thread's age", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const read = { records: 0 };
  const counting: Store = {
    ...store,
    async *records(threadId, query) {
      for await (const record of store.records(threadId, query)) {
        read.records += 1;
        yield record;
      }
    },
  };
  const counts: number[][] = [];
  for (const age of [10, 300]) {
    const writer = { ...(await writeThread(store, `t${age}`)), store: counting };
    for (let round = 0; round < age; round++) {
      await say(writer, "something", "and more");
      const { compaction, hiddenThrough, version } = (await store.head(`t${age}`))!;
      await compact(writer, { covers: [hiddenThrough + 1, version - 1], folds: compaction });
    }
    const acts = [undo, redo, undo, undo].map((act) => async () => {
      read.records = 0;
      assert.match((await act(writer)).kind, /^(un|re)done$/);
      return read.records;
    });
    const each: number[] = [];
    for (const act of acts) each.push(await act());
    counts.push(each);
    await assertSound(writer, `t${age}`);
  }
  assert.deepEqual(counts[0], counts[1]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { assertSound } from "@palimpsest/testing/internal/kit";
import { writeThread } from "@palimpsest/testing/internal/thread-writer";
import {
  LONG_LEASE_MS,
  playLongThread,
  takeAllBack,
  weighRecords,
} from "../../test/compaction/records-cost.property.ts";
import { openSqlite } from "../stores/sqlite.ts";

for (const summaries of ["model", "extract"] as const) {
  test(`compactions by ${summaries} take no more bytes than the messages, and all can be taken back`, async (t) => {
    const store = openSqlite({ path: ":memory:" });
    t.after(() => store.close());
    const writer = await writeThread(store, "t", {}, LONG_LEASE_MS);
    const { befores } = await playLongThread(writer, { turns: 200, summaries });
    const cost = await weighRecords(writer);
    assert.ok(cost.compactions >= 30, JSON.stringify(cost));
    assert.ok(cost.recordBytes <= cost.messageBytes, JSON.stringify(cost));
    await assertSound(writer, "t");
    await takeAllBack(writer, befores, 1);
    await assertSound(writer, "t");
  });
}

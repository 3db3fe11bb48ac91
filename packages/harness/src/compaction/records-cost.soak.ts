import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { assertSound } from "@palimpsest/testing/internal/kit";
import { writeThread } from "@palimpsest/testing/internal/thread-writer";
import {
  LONG_LEASE_MS,
  playLongThread,
  takeAllBack,
  timeUndos,
  weighRecords,
} from "../../test/compaction/records-cost.property.ts";
import { openSqlite } from "../stores/sqlite.ts";

for (const summaries of ["model", "extract"] as const) {
  test(`5,000 turns in 8,000 tokens, summaries by ${summaries}: what they weigh, and all taken back one by one`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "palimpsest-records-"));
    const store = openSqlite({ path: join(folder, "log.db") });
    t.after(async () => {
      await store.close();
      rmSync(folder, { recursive: true });
    });
    const writer = await writeThread(store, "t", {}, LONG_LEASE_MS);
    const { befores } = await playLongThread(writer, { turns: 5000, summaries });
    const cost = await weighRecords(writer);
    t.diagnostic(JSON.stringify({ ...cost, acts: befores.length, share: cost.recordBytes / cost.messageBytes }));
    assert.ok(cost.recordBytes <= cost.messageBytes / 2);
    // The test runner follows every promise, which about doubles these.
    const times = await timeUndos(writer);
    assert.equal(times.length, befores.length);
    const sorted = times.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]!.toFixed(1);
    const shown = times.filter((_, index) => index % 200 === 0).map((ms) => ms.toFixed(1));
    t.diagnostic(
      `work of an undo: median ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms; every 200th: ${shown.join(", ")}`,
    );
    await takeAllBack(writer, befores);
    await assertSound(writer, "t");
  });
}

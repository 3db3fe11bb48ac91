import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { summarizeLongThread } from "../../test/playback/long-summary.ts";
import { openSqlite } from "../stores/sqlite.ts";
import { createThread, threadDeps } from "../thread/writer.ts";
import { draftTable } from "./drafts.ts";

for (const { tokens, killAfter } of [
  { tokens: 1_000_000, killAfter: 1 },
  { tokens: 5_000_000, killAfter: 10 },
]) {
  test(`[F5] ${tokens} tokens through an 8,000-token summarizer, killed after every ${killAfter} calls`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "palimpsest-long-"));
    const store = openSqlite({ path: join(folder, "log.db") });
    t.after(async () => {
      await store.close();
      rmSync(folder, { recursive: true });
    });
    await createThread(threadDeps(store), { id: "t" });
    const drafts = draftTable(store.drafts, "t", () => new Date(0));
    const report = await summarizeLongThread({ tokens, window: 8000, drafts, killAfter });
    t.diagnostic(JSON.stringify(report));
    assert.deepEqual([report.wordsNeverRead, report.repeated], [0, 0]);
    assert.equal(report.kills, Math.ceil(report.calls / killAfter) - 1);
    assert.ok(report.calls <= 8 + 2 * report.leastCalls, `${report.calls} calls`);
  });
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { summarizeLongThread } from "../../test/playback/long-summary.ts";
import { openSqlite } from "../stores/sqlite.ts";
import { createThread, threadDeps } from "../thread/writer.ts";
import { draftTable } from "./drafts.ts";

test("[F5] 100,000 tokens through an 8,000-token summarizer, killed at every call: all words read, no call repeated", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  await createThread(threadDeps(store), { id: "t" });
  const drafts = draftTable(store.drafts, "t", () => new Date(0));
  const report = await summarizeLongThread({ tokens: 100_000, window: 8000, drafts, killAfter: 1 });
  await store.close();
  t.diagnostic(JSON.stringify(report));
  assert.deepEqual([report.wordsNeverRead, report.repeated], [0, 0]);
  assert.equal(report.kills, report.calls - 1);
  assert.ok(report.calls <= 8 + 2 * report.leastCalls, `${report.calls} calls`);
  assert.ok(report.digested > 0);
});

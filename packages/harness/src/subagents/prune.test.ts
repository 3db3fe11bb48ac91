import assert from "node:assert/strict";
import { test } from "node:test";
import { openSqlite } from "../stores/sqlite.ts";
import { commit, createThread, means, withWriter } from "../threads/index.ts";
import { pruneSubagents } from "./prune.ts";

const DAY = 86_400_000;

test("pruning takes old sub-agent threads, keeps those a parent points at unless asked, and never a main thread", async () => {
  const store = openSqlite({ path: ":memory:" });
  let now = Date.parse("2026-01-01T00:00:00Z");
  const kit = means(store, { clock: () => new Date(now) });
  await createThread(kit, { id: "main" });
  for (const id of ["subagent-listed", "subagent-loose", "subagent-held"]) {
    await createThread(kit, { id, kind: "subagent", parent: "main" });
  }
  await createThread(kit, { id: "subagent-orphan", kind: "subagent", parent: "gone" });
  await withWriter(kit, "main", (writer) =>
    commit(writer, [{ kind: "state", patch: { delegations: [{ threadId: "subagent-listed", status: "completed" }] } }]),
  );
  now += 31 * DAY;
  await createThread(kit, { id: "subagent-young", kind: "subagent", parent: "main" });
  const forgotten: string[] = [];
  const forget = async (thread: string): Promise<void> => void forgotten.push(thread);
  const lease = await store.acquireLease("subagent-held", "someone", 60_000);
  assert.equal(lease.kind, "acquired");

  const pruned = await pruneSubagents(kit, { days: 30, forget });
  assert.deepEqual(new Set(pruned.deleted), new Set(["subagent-loose", "subagent-orphan"]));
  assert.deepEqual(forgotten, pruned.deleted);
  assert.deepEqual(
    new Map(pruned.kept.map(({ thread, reason }) => [thread, reason])),
    new Map([
      ["subagent-listed", "pointed-at"],
      ["subagent-held", "busy"],
    ]),
  );
  assert.deepEqual((await pruneSubagents(kit, { days: 30, pointedAt: "too" })).deleted, ["subagent-listed"]);
  assert.ok(await store.header("main"));
  assert.ok(await store.header("subagent-young"));
  await store.close();
});

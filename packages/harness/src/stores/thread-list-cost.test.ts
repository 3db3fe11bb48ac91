import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { createThread, threadDeps } from "../thread/writer.ts";
import { openStore } from "./open.ts";

test("a page of a user's threads is read from an index in its order, without sorting all of them", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "log.db");
  const store = await openStore(path);
  for (const id of ["a", "b", "c"]) await createThread(threadDeps(store), { id });
  assert.deepEqual(
    (await store.threads({ limit: 2 })).threads.map(({ header }) => header.id),
    ["c", "b"],
  );
  await store.close();
  const database = new DatabaseSync(path);
  t.after(() => database.close());
  const plan = database
    .prepare(
      `EXPLAIN QUERY PLAN SELECT t.num, t.header FROM heads h CROSS JOIN threads t USING (num)
       WHERE h.user = 'default' ORDER BY h.updated DESC, h.num DESC LIMIT 51`,
    )
    .all()
    .map(({ detail }) => String(detail));
  assert.ok(plan.some((line) => line.includes("heads_recent")));
  assert.ok(!plan.some((line) => line.includes("TEMP B-TREE")), plan.join("; "));
});

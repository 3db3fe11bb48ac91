import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { checkQueueCrashes } from "../../test/memory/queue-crash-check.ts";
import { sharing } from "../../test/memory/queue-sharing.ts";
import { openSqlite } from "../stores/sqlite.ts";
import { queueConformance } from "../testing/conformance.ts";

const folder = mkdtempSync(join(tmpdir(), "palimpsest-queue-"));
after(() => rmSync(folder, { recursive: true }));

queueConformance("SQLite", async () => {
  const store = openSqlite({ path: ":memory:" }).forUser("ada");
  let now = Date.UTC(2026, 10, 15);
  return {
    store,
    clock: () => new Date(now),
    elapse: async (ms) => {
      now += ms;
    },
    close: () => store.close(),
  };
});

sharing("SQLite file", () => join(folder, "shared.db"));

test("[F51] kill -9 between a turn and its learning, 20 times, on SQLite: nothing lost, nothing twice", async (t) => {
  const delays = Array.from({ length: 20 }, (_, index) => (index * 37) % 260);
  const { turns } = await checkQueueCrashes(t, join(folder, "log.db"), delays);
  assert.ok(turns >= 20, `only ${turns} turns in all`);
});

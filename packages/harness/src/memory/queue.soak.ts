import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startPostgres } from "../testing/postgres-server.ts";
import { checkQueueCrashes } from "./queue-crash-check.ts";

const delays = Array.from({ length: 200 }, (_, index) => (index * 41) % 330);

test("[F51] kill -9 between a turn and its learning, 200 times, on SQLite: nothing lost, nothing twice", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-queue-"));
  try {
    const { turns } = await checkQueueCrashes(t, join(folder, "log.db"), delays);
    assert.ok(turns >= 200, `only ${turns} turns in all`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("[F51] kill -9 between a turn and its learning, 200 times, on PostgreSQL: nothing lost, nothing twice", async (t) => {
  const server = await startPostgres();
  try {
    const { turns } = await checkQueueCrashes(t, server.url(), delays);
    assert.ok(turns >= 200, `only ${turns} turns in all`);
  } finally {
    await server.stop();
  }
});

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const RUN = fileURLToPath(new URL("../../test/agent/leak-run.ts", import.meta.url));

test("a run that has ended is no longer in memory, whatever tools and children it had", async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--expose-gc", "--conditions=palimpsest-source", RUN],
    { timeout: 120_000 },
  );
  assert.deepEqual(JSON.parse(stdout), { finished: 12, alive: 0, failed: [] });
});

/** The claim of the design at its full size: 100,000 random logs (or PALIMPSEST_LOGS of them), on every core. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertNoFault, manyRandomLogs } from "../../test/playback/random-logs.ts";

const LOGS = Number(process.env["PALIMPSEST_LOGS"] ?? 100_000);

test(`${LOGS} random logs in every dialect: no invalid prompt, no overflow, every rung taken`, async (t) => {
  const started = performance.now();
  const total = await manyRandomLogs(LOGS, "extracted", ({ logs, faults }) => {
    if (logs % 2000 !== 0 && logs !== LOGS) return;
    const seconds = (performance.now() - started) / 1000;
    const left = Math.round((seconds / logs) * (LOGS - logs));
    process.stderr.write(`${logs} logs in ${Math.round(seconds)} s, ${left} s left, ${faults.length} faults\n`);
  });
  assertNoFault(t, total);
  assert.ok((total.sizes["over 200"] ?? 0) >= total.logs / 6);
  for (const rung of ["prune", "extract", "clamp", "collapse"])
    assert.ok((total.rungs[rung] ?? 0) >= total.logs / 100, rung);
});

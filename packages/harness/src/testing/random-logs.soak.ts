/** The claim of the design at its full size: 100,000 random logs (or PALIMPSEST_LOGS of them), on every core. */
import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import type { RandomLogsReport } from "./random-logs.ts";

const LOGS = Number(process.env["PALIMPSEST_LOGS"] ?? 100_000);

test(`${LOGS} random logs in three shapes: no invalid prompt, no overflow, every rung taken`, async (t) => {
  const workers = availableParallelism();
  const each = Math.ceil(LOGS / workers);
  const reports = await Promise.all(
    Array.from({ length: workers }, (_, index) => play(1 + index * each, 1 + (index + 1) * each)),
  );
  const total = reports.reduce(add);
  t.diagnostic(JSON.stringify(total));
  const { invalid, overWindow, changed, hasty } = total;
  assert.deepEqual(
    { invalid, overWindow, changed, hasty },
    { invalid: 0, overWindow: 0, changed: 0, hasty: 0 },
    total.faults.join("\n"),
  );
  assert.ok(total.over200Messages >= total.logs / 6);
  for (const rung of ["prune", "extract", "clamp", "collapse"])
    assert.ok((total.rungs[rung] ?? 0) >= total.logs / 100, rung);
});

function play(from: number, to: number): Promise<RandomLogsReport> {
  const code = `import { parentPort } from "node:worker_threads";
    const { randomLogs } = await import(${JSON.stringify(new URL("./random-logs.ts", import.meta.url).href)});
    parentPort.postMessage(await randomLogs(${from}, ${to}));`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}

function add(a: RandomLogsReport, b: RandomLogsReport): RandomLogsReport {
  const rungs = { ...a.rungs };
  for (const [rung, count] of Object.entries(b.rungs)) rungs[rung] = (rungs[rung] ?? 0) + count;
  return {
    logs: a.logs + b.logs,
    over200Messages: a.over200Messages + b.over200Messages,
    requests: a.requests + b.requests,
    invalid: a.invalid + b.invalid,
    overWindow: a.overWindow + b.overWindow,
    impossible: a.impossible + b.impossible,
    hasty: a.hasty + b.hasty,
    changed: a.changed + b.changed,
    draftsUsed: a.draftsUsed + b.draftsUsed,
    rungs,
    faults: [...a.faults, ...b.faults].slice(0, 10),
  };
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { runTools } from "../../../test/tool-runner.ts";

const TURNS = Number(process.env["PALIMPSEST_TURNS"] ?? 30);
const WINDOW = Number(process.env["PALIMPSEST_WINDOW"] ?? 4000);

for (const [model, upstream, stream] of [
  ["claude", "Anthropic", true],
  ["local", "OpenAI", false],
] as const)
  test(`the official tool runner over ${TURNS} turns with a thread, in a window of ${WINDOW}, on ${upstream}'s protocol`, async (t) => {
    const report = await runTools(t, { model, turns: TURNS, stream }, { window: WINDOW });
    t.diagnostic(JSON.stringify(report));
    assert.equal(report.invalid, 0);
    assert.deepEqual(report.matches, { new: 1, extended: 2 * TURNS - 1 });
    assert.ok(report.largest < 2500, `${report.largest} bytes in one request`);
    assert.ok(report.compacted > TURNS / 2, `${report.compacted} compacted`);
  });

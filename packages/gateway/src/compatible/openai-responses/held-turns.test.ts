import assert from "node:assert/strict";
import { test } from "node:test";
import { heldTurns } from "../../../test/held-turns.ts";

const TURNS = Number(process.env["PALIMPSEST_TURNS"] ?? 30);
const WINDOW = Number(process.env["PALIMPSEST_WINDOW"] ?? 4000);

for (const [model, whose] of [
  ["gpt", "its own vendor's"],
  ["claude", "another vendor's"],
] as const)
  test(`${TURNS} turns by previous_response_id in a window of ${WINDOW}, on ${whose} provider, now and then refused as too long`, async (t) => {
    const report = await heldTurns(t, { turns: TURNS, window: WINDOW, model });
    t.diagnostic(JSON.stringify(report));
    assert.equal(report.invalid, 0);
    assert.ok(report.compacted > TURNS / 4, `${report.compacted} compacted`);
    assert.ok(report.largest < 1000, "the client sends only what is new");
  });

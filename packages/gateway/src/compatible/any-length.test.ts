import assert from "node:assert/strict";
import { test } from "node:test";
import { TALKERS, talkAtLength } from "../../test/any-length.ts";

const TURNS = Number(process.env["PALIMPSEST_TURNS"] ?? 80);
const WINDOW = Number(process.env["PALIMPSEST_WINDOW"] ?? 4000);
/** `chat completions`, `messages` or `responses`; all of them unless told. */
const PROTOCOL = process.env["PALIMPSEST_PROTOCOL"] ?? null;

for (const [name, talker] of Object.entries(TALKERS).filter(([one]) => PROTOCOL === null || one === PROTOCOL))
  test(`${name}: ${TURNS} turns, all sent again each time, in a window of ${WINDOW}, every tenth refused, every twentieth cut off`, async (t) => {
    const report = await talkAtLength(t, talker, { turns: TURNS, window: WINDOW });
    t.diagnostic(JSON.stringify(report));
    assert.equal(report.invalid, 0);
    assert.ok(report.compacted > TURNS / 4, `${report.compacted} compacted`);
  });

import assert from "node:assert/strict";
import { test } from "node:test";
import { killRounds } from "../test/kill-rounds.ts";

test("kill -9 between two events of a run: nothing that a reader was told of is lost, and the thread goes on", async (t) => {
  const places = [2, 6, 11, 99];
  const report = await killRounds(t, { rounds: places.length, afterEvent: (round) => places[round]! });
  assert.equal(report.broken, 3);
});

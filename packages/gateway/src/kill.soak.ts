import { test } from "node:test";
import { killRounds } from "../test/kill-rounds.ts";

test("the same a hundred times, behind every event in turn", async (t) => {
  const report = await killRounds(t, { rounds: 100, afterEvent: (round) => 1 + (round % 20) });
  t.diagnostic(JSON.stringify(report));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTime } from "../../test/manual-time.ts";
import { KeptRuns } from "./registry.ts";
import { GatewayRun } from "./run.ts";

test("a run that has ended is known for five minutes, one that goes on as long as it does", async () => {
  const time = new ManualTime();
  const kept = new KeptRuns(time.clock);
  const made = (id: string) => {
    const facts = { id, user: "ada", thread: "t", model: null, askedAt: time.clock() };
    const run = new GatewayRun(facts, { clock: time.clock, meter: { event() {} } });
    kept.add(run);
    return run;
  };
  const [ended, running] = [made("ended"), made("running")];
  ended.endUnstarted({ kind: "aborted" });
  await time.pass(5 * 60_000);
  assert.deepEqual([kept.find("ended"), kept.find("running")], [ended, running]);
  await time.pass(1);
  assert.deepEqual([kept.find("ended"), kept.find("running")], [null, running]);
  for (let count = 0; count < 600; count += 1) made(`r${count}`).endUnstarted({ kind: "aborted" });
  kept.prune();
  assert.equal(kept.find("r99"), null);
  assert.notEqual(kept.find("r100"), null);
  assert.equal(kept.find("running"), running);
});

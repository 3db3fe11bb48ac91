import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTime } from "../../test/manual-time.ts";
import { Attendance } from "./readers.ts";
import { GatewayRun } from "./run.ts";

function attended() {
  const time = new ManualTime();
  const facts = { id: "r", user: "ada", thread: "t", model: null, askedAt: time.clock() };
  const run = new GatewayRun(facts, { clock: time.clock, meter: { event() {} } });
  return { time, run, attendance: new Attendance(run, time.after) };
}

test("a run without readers is stopped after five seconds", async () => {
  const { time, run, attendance } = attended();
  const [first, second] = [attendance.enter(), attendance.enter()];
  first();
  await time.pass(60_000);
  assert.equal(run.stoppedBy, null, "one still reads");
  second();
  await time.pass(4_999);
  assert.equal(run.stoppedBy, null);
  await time.pass(1);
  assert.equal(run.stoppedBy, "caller");
});

test("a reader who comes back in time finds it going on", async () => {
  const { time, run, attendance } = attended();
  attendance.enter()();
  await time.pass(3_000);
  const leave = attendance.enter();
  await time.pass(60_000);
  assert.equal(run.stoppedBy, null);
  leave();
  await time.pass(5_000);
  assert.equal(run.stoppedBy, "caller");
});

test("who reads it on another instance keeps it going, until they have left too", async () => {
  const { time, run } = attended();
  let elsewhere = true;
  const attendance = new Attendance(run, time.after, async () => elsewhere);
  attendance.enter()();
  await time.pass(5_000);
  await time.pass(5_000);
  assert.equal(run.stoppedBy, null);
  elsewhere = false;
  await time.pass(5_000);
  assert.equal(run.stoppedBy, "caller");
});

test("nothing waits for a run that has ended", async () => {
  const { time, run, attendance } = attended();
  attendance.enter()();
  run.endUnstarted({ kind: "answered", finish: "stop" });
  await run.ended;
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(time.waiting, 0);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { admitRun, type LaneFacts, MOST_WAITING, type Multitask, type RunAdmission } from "./registry.ts";

test("a run that is asked for while its thread has one is refused, waits, forks or takes its place, as its caller says", () => {
  const free: LaneFacts = { server: "open", running: false, waiting: 0, runs: 0, most: null };
  const busy = { ...free, running: true };
  const full = { ...busy, waiting: MOST_WAITING };
  const rows: readonly (readonly [LaneFacts, Multitask, string])[] = [
    [free, "reject", "start"],
    [free, "wait", "start"],
    [free, "fork", "start"],
    [free, "interrupt", "start"],
    [busy, "reject", "refused busy"],
    [busy, "wait", "wait"],
    [busy, "fork", "fork"],
    [busy, "interrupt", "interrupt"],
    [{ ...free, waiting: 1 }, "reject", "refused busy"],
    [{ ...free, waiting: 1 }, "wait", "wait"],
    [full, "wait", "refused queue-full"],
    [full, "fork", "fork"],
    [{ ...free, runs: 1, most: 2 }, "reject", "start"],
    [{ ...free, runs: 2, most: 2 }, "reject", "refused limited"],
    [{ ...busy, runs: 2, most: 2 }, "wait", "refused limited"],
    [{ ...busy, runs: 2, most: 2 }, "fork", "refused limited"],
    [{ ...busy, runs: 2, most: 2 }, "interrupt", "interrupt"],
    [{ ...free, server: "closing" }, "reject", "refused closing"],
    [{ ...busy, server: "closing" }, "wait", "refused closing"],
  ];
  for (const [facts, multitask, expected] of rows)
    assert.equal(words(admitRun(facts, multitask)), expected, `${multitask} ${JSON.stringify(facts)}`);
});

function words(admission: RunAdmission): string {
  return admission.kind === "refused" ? `refused ${admission.reason}` : admission.kind;
}

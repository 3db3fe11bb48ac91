import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyLine, shape, talk } from "../fixtures/conversations.ts";
import { byUse, extendNames, readNames } from "./used-names.ts";

test("what the assistant used in most messages comes first, what was seen once last", () => {
  const names = extendNames(
    [],
    talk([
      { user: "Look at ZFA04Y and at src/main.ts" },
      { call: "get", args: { id: "ZFA04Y" }, gives: '{"flight_number": "HAT136", "amount": "1530.25"}' },
      { says: "ZFA04Y is on HAT136." },
    ]),
    shape,
  );
  const order = byUse(names).map(([name]) => name);
  assert.deepEqual(order.slice(0, 2), ["ZFA04Y", "HAT136"]);
  assert.deepEqual(new Set(order), new Set(["ZFA04Y", "HAT136", "src/main.ts", "1530.25"]));
});

test("a path stands as it was written", () => {
  const names = extendNames([], talk([{ says: "It imports ../tui/footer.js." }]), shape);
  assert.deepEqual(names, [["../tui/footer.js", 1, 1]]);
});

test("for any conversation: bounded, and counted on as if it had been read at once", () => {
  fc.assert(
    fc.property(fc.array(anyLine, { maxLength: 25 }), fc.nat(25), (lines, at) => {
      const entries = talk(lines);
      const whole = extendNames([], entries, shape);
      const first = readNames(JSON.parse(JSON.stringify(extendNames([], entries.slice(0, at), shape))));
      assert.deepEqual(extendNames(first, entries.slice(at), shape), whole);
      assert.ok(whole.reduce((sum, [name]) => sum + name.length + 2, 0) <= 6000);
    }),
    { numRuns: 100 },
  );
});

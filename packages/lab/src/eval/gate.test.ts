import assert from "node:assert/strict";
import { test } from "node:test";
import { gateFailures, parseGate } from "./gate.ts";

test("a figure below its minimum, above its maximum or not measured is one sentence each; equal is enough", () => {
  const gate = { seen: { min: 60 }, cost: { max: 40 }, both: { min: 1, max: 2 }, gone: { min: 0 }, none: { max: 1 } };
  assert.deepEqual(gateFailures(gate, { seen: 60, cost: 40, both: 2, gone: 0, none: 1 }), []);
  assert.deepEqual(gateFailures(gate, { seen: 59.9, cost: 40.1, both: 0.5, none: null }), [
    "seen: 59.9 is below 60.",
    "cost: 40.1 is above 40.",
    "both: 0.5 is below 1.",
    'gone: not measured; --json lists the names of all figures under "figures".',
    'none: not measured; --json lists the names of all figures under "figures".',
  ]);
});

test("a gate that can't be meant is refused with the place of its mistake", () => {
  for (const [text, problem] of [
    ["{", /no JSON/],
    ["[]", /record|object/i],
    ["{}", /names no figure/],
    ['{"seen": 60}', /"seen": .*object/i],
    ['{"seen": {}}', /"seen": give min, max or both/],
    ['{"seen": {"min": "60"}}', /"seen" "min": .*number/],
    ['{"seen": {"least": 60}}', /"seen": .*least/],
  ] as const) {
    const parsed = parseGate(text);
    assert.match(parsed.kind === "invalid" ? parsed.problem : "accepted", problem, text);
  }
  assert.deepEqual(parseGate('{"seen": {"min": 60}}'), { kind: "gate", gate: { seen: { min: 60 } } });
});

test("a figure's name can be one that every object has", () => {
  assert.match(gateFailures({ toString: { min: 0 } }, {})[0] ?? "", /not measured/);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { applyDelta, type Delta, deltaOf, type Json } from "./head.ts";

const asJson = (value: unknown) => JSON.parse(JSON.stringify(value)) as Json;
const json = () => fc.jsonValue().map(asJson);

test("a delta applied to the value it was made from gives the other value, whatever both are", () => {
  fc.assert(
    fc.property(json(), json(), (before, after) => {
      assert.deepEqual(applyDelta(before, stored(deltaOf(before, after))), after);
      assert.deepEqual(applyDelta(before, stored(deltaOf(before, before))), before);
    }),
    { numRuns: 2000 },
  );
});

const item = () =>
  fc.record(
    { id: fc.integer({ min: 1, max: 12 }).map((n) => `f${n}`), text: fc.string(), seqs: fc.array(fc.nat(99)) },
    { requiredKeys: ["id", "text"] },
  );

test("lists of named things come back in their order: changed, moved, doubled, gone and new ones", () => {
  const list = fc.array(fc.oneof(item(), fc.nat(5), fc.constantFrom(null, "path", "__proto__")), { maxLength: 30 });
  fc.assert(
    fc.property(list.map(asJson), list.map(asJson), (before, after) => {
      assert.deepEqual(applyDelta(before, stored(deltaOf(before, after))), after);
    }),
    { numRuns: 2000 },
  );
});

test("fields named like parts of an object's own works are ordinary fields", () => {
  const before = JSON.parse('{"__proto__": {"a": 1}, "constructor": 1, "to": 1, "list": [1]}') as Json;
  const after = JSON.parse('{"__proto__": {"a": 2}, "toString": 3, "to": {"to": 2}, "list": [[0, 1]]}') as Json;
  assert.deepEqual(applyDelta(before, stored(deltaOf(before, after))), after);
});

test("what stayed is not repeated: a delta is as long as what is new", () => {
  const items = Array.from({ length: 300 }, (_, index) => ({
    id: `f${index}`,
    text: `the fact number ${index}`,
    n: 1,
  }));
  const before: Json = { v: 1, facts: items, title: "a title" };
  const after: Json = {
    v: 1,
    // The oldest two are gone, one has changed, one was moved to the end, two are new.
    facts: [
      ...items.slice(2, 100).map((one) => (one.id === "f50" ? { ...one, n: 2 } : one)),
      ...items.slice(101),
      { ...items[100]!, n: 7 },
      { id: "f300", text: "a new fact", n: 1 },
      { id: "f301", text: "another new fact", n: 1 },
    ],
    title: "a title",
  };
  assert.deepEqual(deltaOf(before, after), {
    fields: {
      facts: {
        list: [
          [2, 48],
          { of: 50, now: { fields: { n: { to: 2 } } } },
          [51, 49],
          [101, 199],
          { of: 100, now: { fields: { n: { to: 7 } } } },
          {
            add: [
              { id: "f300", text: "a new fact", n: 1 },
              { id: "f301", text: "another new fact", n: 1 },
            ],
          },
        ],
      },
    },
  });
});

test("a delta that meets another value than its own gives something, and never throws", () => {
  fc.assert(
    fc.property(json(), json(), json(), (before, after, other) => {
      assert.doesNotThrow(() => applyDelta(other, deltaOf(before, after)));
    }),
  );
});

function stored(delta: Delta): Delta {
  return JSON.parse(JSON.stringify(delta)) as Delta;
}

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { edgeOf, fullnessWords, segmentsOf } from "./bar.ts";

test("a bar has the prompt in order, what is free, the tools and what is kept for the answer", () => {
  const parts = { user: 20, base: 10, definitions: 30 };
  const groups = [{ name: "Tools/Response", parts: { definitions: 30, reserved: 40 } }];
  assert.deepEqual(
    segmentsOf({ window: 200, total: 60, parts, groups }).map(({ label, tokens }) => `${label} ${tokens}`),
    ["system 10", "user 20", "free 100", "tools 30", "answer 40"],
  );
});

test("the shares of a bar make one whole, also where the window is exceeded", () => {
  const sizes = fc.record({ base: fc.nat(1000), user: fc.nat(1000), definitions: fc.nat(1000), strange: fc.nat(10) });
  fc.assert(
    fc.property(sizes, fc.integer({ min: 1, max: 2000 }), fc.nat(500), (parts, window, reserved) => {
      const total = Object.values(parts).reduce((sum, tokens) => sum + tokens, 0);
      const shares = segmentsOf({ window, total, parts, groups: [{ parts: { reserved } }] }).map(({ share }) => share);
      assert.ok(Math.abs(shares.reduce((sum, share) => sum + share, 0) - 1) < 1e-9);
      assert.ok(shares.every((share) => share > 0));
    }),
  );
});

test("a bar ends at its window, and an over-full one has a line where the window ends", () => {
  const groups = [{ parts: { reserved: 100 } }];
  assert.equal(edgeOf({ window: 1000, total: 900, groups }), null);
  assert.equal(edgeOf({ window: 1000, total: 1900, groups }), 0.5);
  assert.equal(edgeOf({ window: 0, total: 10, groups }), 0);
  assert.equal(fullnessWords(1171, 100), "12 × the window");
  assert.equal(fullnessWords(117, 100), "117 %");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Turn } from "../replay/transcript.ts";
import { BOUNDS, evenly, newest } from "./sample.ts";

test("an even sample keeps the order, has no element twice and is as long as it may be", () => {
  fc.assert(
    fc.property(fc.nat(500), fc.integer({ min: 1, max: 100 }), (length, most) => {
      const list = Array.from({ length }, (_, index) => index);
      const sample = evenly(list, most);
      assert.equal(sample.length, Math.min(length, most));
      assert.deepEqual(
        sample,
        [...new Set(sample)].toSorted((a, b) => a - b),
      );
      if (length > 0) assert.equal(sample[0], 0);
    }),
  );
});

test("the newest messages within the bounds are a tail that begins with the user; without a need nothing is cut", () => {
  const turn = fc.constantFrom("user", "assistant", "tool").map(
    (role): Turn => ({
      message: role === "tool" ? { role, tool_call_id: "a", content: "result" } : { role, content: "said" },
      at: 0,
      output: null,
    }),
  );
  fc.assert(
    fc.property(fc.array(turn), fc.integer({ min: 1, max: 20 }), fc.nat(2000), (turns, messages, characters) => {
      const kept = newest(turns, { ...BOUNDS, messages, characters });
      if (kept.length === turns.length) return;
      assert.ok(kept.length <= messages);
      assert.deepEqual(kept, kept.length === 0 ? [] : turns.slice(-kept.length));
      assert.ok(kept.length === 0 || kept[0]!.message.role === "user");
      assert.ok(kept.reduce((sum, { message }) => sum + JSON.stringify(message).length, 0) <= characters);
    }),
  );
  const short = [{ message: { role: "assistant", content: "said" }, at: 0, output: null }] satisfies Turn[];
  assert.equal(newest(short, BOUNDS), short);
});

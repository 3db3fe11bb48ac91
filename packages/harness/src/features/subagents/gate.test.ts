import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createGate } from "./delegate.ts";

const forever = new AbortController().signal;

test("[F72] a parent with many children does not keep another's waiting: free places go round", async () => {
  const gate = createGate();
  const order: string[] = [];
  const leaves: (() => void)[] = [];
  const ask = (parent: string, name: string) =>
    gate.enter(parent, { limit: 1, signal: forever }).then((leave) => {
      order.push(name);
      leaves.push(leave);
    });
  const all = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"].map((name) => ask(name[0]!, name));
  for (let turn = 0; turn < all.length; turn++) {
    await new Promise(setImmediate);
    leaves[turn]!();
  }
  await Promise.all(all);
  assert.deepEqual(order, ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
});

test("whatever comes, goes and gives up: never more than the limit, nobody is forgotten, each parent in its order", async () => {
  const step = fc.oneof(
    fc.record({ act: fc.constant("enter" as const), parent: fc.constantFrom("a", "b", "c") }),
    fc.record({ act: fc.constantFrom("leave" as const, "abort" as const), at: fc.nat(30) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), async (steps, limit) => {
      const gate = createGate();
      const asked: { parent: string; stop: AbortController; leave?: () => void; gone?: boolean; index: number }[] = [];
      const admitted: number[] = [];
      const check = (): void => assert.ok(gate.running <= limit && gate.running >= 0);
      for (const one of steps) {
        if (one.act === "enter") {
          const mine = {
            parent: one.parent,
            stop: new AbortController(),
            index: asked.length,
          } as (typeof asked)[number];
          asked.push(mine);
          gate.enter(one.parent, { limit, signal: mine.stop.signal }).then(
            (leave) => {
              mine.leave = leave;
              admitted.push(mine.index);
            },
            () => {
              mine.gone = true;
            },
          );
        } else if (one.act === "leave") asked[one.at]?.leave?.();
        else asked[one.at]?.stop.abort();
        await Promise.resolve();
        check();
      }
      for (let round = 0; round <= asked.length; round++) {
        await new Promise(setImmediate);
        for (const { leave } of asked) leave?.();
        check();
      }
      assert.ok(asked.every(({ leave, gone }) => leave !== undefined || gone === true));
      assert.deepEqual([gate.running, gate.waiting], [0, 0]);
      for (const parent of ["a", "b", "c"]) {
        const mine = admitted.filter((index) => asked[index]!.parent === parent);
        assert.deepEqual(
          mine,
          mine.toSorted((x, y) => x - y),
        );
      }
    }),
    { numRuns: 60 },
  );
});

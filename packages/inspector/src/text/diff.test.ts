import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { diff } from "./diff.ts";

const told = (before: string, after: string) =>
  diff([...before], [...after])
    .map(({ kind, value }) => ({ same: " ", gone: "-", new: "+" })[kind] + value)
    .join("");

test("what is gone, new and the same is told in order", () => {
  assert.equal(told("abc", "abc"), " a b c");
  assert.equal(told("abc", "axc"), " a-b+x c");
  assert.equal(told("", "ab"), "+a+b");
  assert.equal(
    told("abcabba", "cbabac"),
    diff([..."abcabba"], [..."cbabac"])
      .map(({ kind, value }) => ({ same: " ", gone: "-", new: "+" })[kind] + value)
      .join(""),
  );
});

test("the steps lead from the one list to the other, also where the lists are long and differ in everything", () => {
  const list = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 40 });
  fc.assert(
    fc.property(list, list, (before, after) => {
      const steps = diff(before, after);
      assert.deepEqual(
        steps.filter(({ kind }) => kind !== "new").map(({ value }) => value),
        before,
      );
      assert.deepEqual(
        steps.filter(({ kind }) => kind !== "gone").map(({ value }) => value),
        after,
      );
    }),
  );
  const long = diff(
    Array.from({ length: 3000 }, (_, index) => `a${index}`),
    Array.from({ length: 3000 }, (_, index) => `b${index}`),
  );
  assert.equal(long.length, 6000);
});

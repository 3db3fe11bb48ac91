import assert from "node:assert/strict";
import { test } from "node:test";
import { LeftOpen } from "./asked-model.ts";

test("what was left open is taken once, the oldest goes first, and after closing nothing is kept", async () => {
  const gone: string[] = [];
  const left = new LeftOpen<string>(2, (thread) => gone.push(thread));
  for (const name of ["a", "b", "c"]) left.leave(name, name);
  assert.deepEqual(gone, ["a"]);
  assert.equal(left.take("a"), null);
  assert.equal(left.take("b"), "b");
  assert.equal(left.take("b"), null);
  left.leave("c", "c again");
  assert.deepEqual(gone, ["a", "c"]);
  await left.close();
  left.leave("d", "d");
  assert.deepEqual(gone, ["a", "c", "c again", "d"]);
  assert.equal(left.take("d"), null);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { LeftOpen } from "./asked-model.ts";

test("what was left open is taken once, the oldest goes first, and after closing nothing is kept", async () => {
  const gone: string[] = [];
  const left = new LeftOpen<string>({ most: 2, bytes: () => 1, letGo: (thread) => gone.push(thread) });
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

test("threads that take much memory are let go of before there are too many of them", () => {
  const gone: string[] = [];
  const left = new LeftOpen<string>({ most: 100, bytes: Number, letGo: (thread) => gone.push(thread) });
  for (const megabytes of [60, 50, 10]) left.leave(`${megabytes}`, `${megabytes * 1024 * 1024}`);
  assert.deepEqual(gone, []);
  left.leave("70", `${70 * 1024 * 1024}`);
  assert.deepEqual(gone.length, 2, "of 190 MB, 128 may stay");
  assert.equal(left.take("60"), null);
  assert.notEqual(left.take("10"), null);
  left.leave("whole", `${200 * 1024 * 1024}`);
  assert.equal(left.take("whole"), null, "what is larger than all the room isn't kept");
  assert.notEqual(left.take("70"), null, "and takes nothing from the others");
});

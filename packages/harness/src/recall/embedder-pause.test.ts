import assert from "node:assert/strict";
import { test } from "node:test";
import { createEmbedderPause } from "./embedder.ts";

test("an embedder that fails is left alone, longer each time, and one that has worked begins anew", () => {
  const pause = createEmbedderPause();
  assert.equal(pause.isOn(0), false);
  assert.equal(pause.failed(0), "first");
  assert.deepEqual([pause.isOn(9_999), pause.isOn(10_000)], [true, false]);
  assert.equal(pause.failed(10_000), "again");
  assert.deepEqual([pause.isOn(69_999), pause.isOn(70_000)], [true, false]);
  for (const now of [70_000, 700_000]) {
    assert.equal(pause.failed(now), "again");
    assert.deepEqual([pause.isOn(now + 599_999), pause.isOn(now + 600_000)], [true, false]);
  }
  pause.worked();
  assert.equal(pause.isOn(700_000), false);
  assert.equal(pause.failed(700_000), "first");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { PROTOCOLS, playTurns } from "./provider-turns.property.ts";

for (const [name, modelOf] of Object.entries(PROTOCOLS)) {
  test(`${name}: turns with tools in a small window, every request accepted by a strict provider`, async () => {
    const { compactions, refused } = await playTurns(modelOf, { turns: 40, window: 8_000 });
    assert.ok(compactions > 0);
    assert.equal(refused, 0);
  });

  test(`${name}: every tenth request refused as too long, every turn is answered all the same`, async () => {
    const { refused } = await playTurns(modelOf, { turns: 30, window: 16_000, refuseEvery: 10 });
    assert.ok(refused >= 3);
  });
}

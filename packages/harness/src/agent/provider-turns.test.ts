import assert from "node:assert/strict";
import { test } from "node:test";
import { PROTOCOLS, playTurns } from "../../test/agent/provider-turns.property.ts";

test("a model that binds its thinking to what came before: none refused over compactions and new days, and thoughts go back while they may", async () => {
  const anthropic = PROTOCOLS["Anthropic messages"]!;
  const { compactions, refused, thoughts } = await playTurns(anthropic, {
    turns: 40,
    window: 8_000,
    thinking: "bound",
  });
  assert.ok(compactions > 0);
  assert.equal(refused, 0);
  assert.ok(thoughts > 40, `${thoughts} thoughts`);
});

test("a model that binds its thinking: every tenth request refused as too long, every turn is answered all the same", async () => {
  const anthropic = PROTOCOLS["Anthropic messages"]!;
  const { refused } = await playTurns(anthropic, { turns: 30, window: 16_000, refuseEvery: 10, thinking: "bound" });
  assert.ok(refused >= 3);
});

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

import assert from "node:assert/strict";
import { test } from "node:test";
import { PROTOCOLS, playTurns } from "../../test/agent/provider-turns.property.ts";

test("Thinking bound to its prefix: 2,000 turns of one thread at a 16k window, none refused", async (t) => {
  const report = await playTurns(PROTOCOLS["Anthropic messages"]!, { turns: 2_000, window: 16_000, thinking: "bound" });
  assert.equal(report.refused, 0);
  t.diagnostic(JSON.stringify(report));
});

for (const [name, modelOf] of Object.entries(PROTOCOLS)) {
  test(`${name}: 2,000 turns of one thread at a 16k window, none refused`, async (t) => {
    const report = await playTurns(modelOf, { turns: 2_000, window: 16_000 });
    assert.equal(report.refused, 0);
    t.diagnostic(JSON.stringify(report));
  });

  test(`${name}: 200 turns with every tenth request refused as too long`, async (t) => {
    t.diagnostic(JSON.stringify(await playTurns(modelOf, { turns: 200, window: 16_000, refuseEvery: 10 })));
  });
}

// A store on Citus, one of whose nodes goes away under a running gateway.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type CitusStore, citusStore, noCitus, nodeOf, takeAway } from "@palimpsest/testing/internal/citus";
import { chaosProvider } from "../test/chaos-provider.ts";
import { keyed } from "../test/keyed.ts";

test("while a node of Citus is away, its users get 503 with a time to wait; the others log in, are counted, answered and learned from", {
  skip: noCitus ?? false,
}, async (t) => {
  let bringBack = async (): Promise<void> => {};
  // Before everything else: with a node away the rest can't be cleaned up.
  t.after(() => bringBack());
  const { at, ask, here, away } = await gateway(t);
  for (const user of [here, away]) assert.equal((await ask(user, "Hello.")).status, 200);
  ({ bringBack } = await takeAway(await nodeOf(at, away)));
  await at.sql(`DELETE FROM ${at.schema}.accounts`);
  const answered = await ask(here, "I own the book ba7c3e91d0f42.");
  assert.equal(answered.status, 200, answered.text);
  assert.match(answered.text, /"answered"/);
  const refused = await ask(away, "Are you there?");
  assert.deepEqual([refused.status, refused.headers["retry-after"]], [503, "5"], refused.text);
  assert.match(refused.text, /"unavailable"/);
  while ((await at.sql(`SELECT 1 FROM ${at.schema}.accounts`)).length === 0) await pause(200);
  const learned = `SELECT 1 FROM ${at.schema}.memories WHERE owner = $1 AND document LIKE '%ba7c3e91d0f42%'`;
  while ((await at.sql(learned, [here])).length === 0) await pause(200);
  await bringBack();
  assert.equal((await ask(away, "And now?")).status, 200);
});

async function gateway(t: TestContext) {
  const at = await citusStore();
  t.after(() => at.drop());
  const provider = await chaosProvider();
  t.after(() => provider.stop());
  const config = `models:
  - { name: m, provider: openai-compatible, model: m, base_url: "${provider.url}", api_key: none, max_input_tokens: 100000 }
title: { enabled: false }
memory: { enabled: true, storage_class: postgres, debounce_seconds: 0 }
store: { url: "${at.url}" }
gateway: { limits: { requests_per_minute: 100 } }
`;
  const front = await keyed(t, { config });
  const [here, away] = await onTwoNodes(at);
  const ask = (userId: string, prompt: string) =>
    front.ask("delegate", "POST", "/api/threads/t/runs", {
      headers: { "x-palimpsest-user": userId },
      body: { prompt },
    });
  return { at, ask, here, away };
}

/** Two users whose rows are on different nodes. */
async function onTwoNodes(at: CitusStore): Promise<readonly [string, string]> {
  const first = await nodeOf(at, "user-0");
  for (let number = 1; ; number += 1)
    if ((await nodeOf(at, `user-${number}`)) !== first) return ["user-0", `user-${number}`];
}

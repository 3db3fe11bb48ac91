// Two gateways on one PostgreSQL before a provider whose window is smaller than the configured one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startProviderServer } from "@palimpsest/testing";
import { startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { modelsFor } from "../../test/before-provider.ts";
import { running } from "../../test/running.ts";

test("a window that a provider stated to one gateway is kept to by another, without a refusal of its own", async (t) => {
  const server = await startPostgres();
  const provider = await startProviderServer({ window: 4000 });
  const config = `${modelsFor(provider, 50_000)}store: {url: "${server.url()}"}\n`;
  const one = await running(t, { config });
  t.after(async () => {
    await provider.close();
    await server.stop();
  });
  const ask = (url: string, messages: readonly object[]) =>
    fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "gpt", messages }),
    });
  let seen = 0;
  const verdicts = () => {
    const from = seen;
    seen = provider.requests.length;
    return provider.requests.slice(from).map(({ verdict }) => verdict.kind);
  };
  assert.equal((await ask(one.url, conversation("first"))).status, 200);
  assert.deepEqual(verdicts(), ["refused", "answered"]);
  assert.equal((await ask(one.url, conversation("second"))).status, 200);
  assert.deepEqual(verdicts(), ["answered"], "another thread of the same gateway");
  const two = await running(t, { config });
  assert.equal((await ask(two.url, [{ role: "user", content: "Hello?" }])).status, 200);
  assert.equal((await ask(two.url, conversation("third"))).status, 200);
  assert.deepEqual(verdicts(), ["answered", "answered"], "another gateway");
});

function conversation(about: string): readonly object[] {
  const turns = Array.from({ length: 60 }, (_, turn) => [
    { role: "user", content: `The ${about} question ${turn}: ${"how deep is it there? ".repeat(10)}` },
    { role: "assistant", content: `Answer ${turn}: ${"seven fathoms. ".repeat(10)}` },
  ]);
  return [...turns.flat(), { role: "user", content: `And now, ${about}?` }];
}

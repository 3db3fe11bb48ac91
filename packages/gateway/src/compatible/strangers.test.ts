// With forwarded keys: a key that no provider has accepted yet writes nothing, and has its own limits.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createKey } from "palimpsest/internal/key-operations";
import { beforeProvider } from "../../test/before-provider.ts";

async function place(t: TestContext, strangers = "") {
  const config = `gateway: {forward_keys: true, address_header: x-forwarded-for, strangers: {${strangers}}}\n`;
  const served = await beforeProvider(t, { apiKey: "sk-real", respond: () => "ok", config });
  await createKey(served.home.store.keys!, { user: "ada", role: "user", expiresAt: null }, new Date());
  const post = async (path: string, key: string, body: object, address = "10.0.0.1") => {
    const response = await fetch(served.url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "x-forwarded-for": address },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, match: response.headers.get("x-palimpsest-match"), text };
  };
  return {
    ...served,
    post,
    ask: (key: string, messages: readonly object[] = [{ role: "user", content: "one" }], address?: string) =>
      post("/v1/chat/completions", key, { model: "gpt", messages }, address),
    users: () => served.home.store.users(),
  };
}

test("made-up keys that the provider refuses write nothing", async (t) => {
  const at = await place(t);
  for (let i = 0; i < 12; i += 1) {
    const { status, match } = await at.ask(`sk-madeup-${i}`);
    assert.deepEqual([status, match], [401, "passed"]);
  }
  assert.deepEqual(await at.users(), []);
  const responses = await at.post("/v1/responses", "sk-madeup", { model: "gpt", input: "one" });
  assert.equal(responses.status, 401);
  const conversation = await at.post("/v1/conversations", "sk-madeup", {});
  assert.deepEqual([conversation.status, /key-not-accepted|before that provider/.test(conversation.text)], [403, true]);
  assert.deepEqual(await at.users(), []);
});

test("a key that the provider accepts is a user from its first answer on", async (t) => {
  const at = await place(t);
  const first = await at.ask("sk-real");
  assert.deepEqual([first.status, first.match], [200, "new"]);
  const second = await at.ask("sk-real", [
    { role: "user", content: "one" },
    { role: "assistant", content: "ok" },
    { role: "user", content: "two" },
  ]);
  assert.deepEqual([second.status, second.match], [200, "extended"]);
  const [user] = await at.users();
  const { threads } = await at.home.store.forUser(user!).threads();
  assert.deepEqual(
    threads.map(({ messages }) => messages),
    [4],
  );
  assert.equal((await at.post("/v1/conversations", "sk-real", {})).status, 200);
});

test("an answer that the first request of a key got can be asked for again", async (t) => {
  const at = await place(t);
  const first = await at.post("/v1/responses", "sk-real", { model: "gpt", input: "one" });
  assert.equal(first.status, 200);
  const { id } = JSON.parse(first.text) as { id: string };
  const next = { model: "gpt", input: "two", previous_response_id: id };
  assert.equal((await at.post("/v1/responses", "sk-real", next)).status, 200);
});

test("made-up keys of one address have one limit together, which other addresses and accepted keys don't have", async (t) => {
  const at = await place(t, "requests_per_minute: 3");
  assert.equal((await at.ask("sk-real")).status, 200);
  const statuses: number[] = [];
  for (let i = 0; i < 4; i += 1) statuses.push((await at.ask(`sk-madeup-${i}`)).status);
  assert.deepEqual(statuses, [401, 401, 429, 429]);
  assert.equal((await at.ask("sk-madeup-9", undefined, "10.0.0.1, 10.0.0.2")).status, 401);
  assert.equal((await at.ask("sk-real")).status, 200);
});

test("all strangers together have a limit as well", async (t) => {
  const at = await place(t, "all_requests_per_minute: 3");
  const statuses: number[] = [];
  for (let i = 0; i < 5; i += 1) statuses.push((await at.ask("sk-madeup", undefined, `10.0.1.${i}`)).status);
  assert.deepEqual(statuses, [401, 401, 401, 429, 429]);
});

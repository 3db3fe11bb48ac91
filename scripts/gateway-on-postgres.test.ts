// Gateways and a real PostgreSQL meet here: runs, chats and what two instances of one database know of each other.
import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import { type PostgresServer, startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { Chat } from "../packages/gateway/test/chat.ts";
import { running } from "../packages/gateway/test/running.ts";
import { upstream } from "../packages/gateway/test/upstream.ts";
import { createClient } from "../packages/harness/src/client/index.ts";

let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(() => server?.stop());

/** Two gateways on one database, before one provider. */
async function pair(t: TestContext) {
  const provider = await upstream(t);
  const options = { config: provider.config, store: server.url() };
  const [one, other] = [await running(t, options), await running(t, options)];
  const wait = async () => {};
  return {
    provider,
    one,
    other,
    client: createClient({ url: one.url, wait }),
    second: createClient({ url: other.url, wait }),
  };
}

test("a run is followed, and its thread is read by the other gateway", async (t) => {
  const { provider, client, second } = await pair(t);
  const asking = client.run("followed", { prompt: "Hello?" });
  const request = await provider.next();
  request.say("Hel");
  const run = await asking;
  const types: string[] = [];
  for await (const event of run) {
    types.push(event.type);
    if (event.type !== "text-delta" || event.text !== "Hel") continue;
    request.say("lo!");
    request.end();
  }
  assert.deepEqual([types[0], types.at(-1)], ["run-start", "run-end"]);
  const late: string[] = [];
  for await (const event of await client.follow(run.id)) late.push(event.type);
  assert.deepEqual(late, types);
  const { messages } = await second.call("GET /api/threads/{id}/messages", { params: { id: "followed" } });
  assert.match(JSON.stringify(messages), /Hello\?.*Hello!/);
});

test("a thread that a run of the other gateway holds is busy, waited for, or forked", async (t) => {
  const { provider, client, second } = await pair(t);
  const first = client.call("POST /api/threads/{id}/runs", { params: { id: "held" }, body: { prompt: "First." } });
  const one = await provider.next();
  const ask = (multitask: "reject" | "wait" | "fork") =>
    second.call("POST /api/threads/{id}/runs", { params: { id: "held" }, body: { prompt: "Second.", multitask } });
  await assert.rejects(ask("reject"), { status: 409, code: "busy" });
  const forking = ask("fork");
  const two = await provider.next();
  two.say("2");
  two.end();
  assert.notEqual((await forking).thread, "held");
  const waiting = ask("wait");
  one.say("1");
  one.end();
  assert.equal((await first).text, "1");
  const three = await provider.next();
  assert.match(JSON.stringify(three.messages), /First.*Second/);
  three.say("3");
  three.end();
  assert.deepEqual([(await waiting).thread, (await waiting).text], ["held", "3"]);
});

test("a chat goes on at the other gateway, regenerated and all", async (t) => {
  const { provider, one, other } = await pair(t);
  const answers = async (text: string) => {
    const request = await provider.next();
    request.say(text);
    request.end();
  };
  const chat = new Chat(one.url);
  await Promise.all([chat.sendMessage({ text: "first" }), answers("one")]);
  await Promise.all([chat.regenerate(), answers("another one")]);
  const { messages } = await createClient({ url: other.url }).call("GET /api/chat/{id}", { params: { id: "t" } });
  const again = new Chat(other.url, { messages: structuredClone(messages) as never });
  await Promise.all([again.sendMessage({ text: "second" }), answers("two")]);
  assert.deepEqual([again.error, again.texts()], [undefined, ["first", "another one", "second", "two"]]);
});

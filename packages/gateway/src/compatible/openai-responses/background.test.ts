import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type OpenAI from "openai";
import { openaiAt, refused } from "../../../test/held-suite.ts";
import { PATIENT, type Running, running } from "../../../test/running.ts";
import { type Upstream, upstream } from "../../../test/upstream.ts";
import { createGateway } from "../../index.ts";

/** Before a provider that says what it is told, when it is told. */
async function told(t: TestContext): Promise<Running & { readonly provider: Upstream; readonly client: OpenAI }> {
  const provider = await upstream(t);
  const served = await running(t, { config: provider.config });
  return { ...served, provider, client: openaiAt(served.url) };
}

const untilDone = async (client: OpenAI, id: string) => {
  for (;;) {
    const response = await client.responses.retrieve(id);
    if (response.status !== "queued" && response.status !== "in_progress") return response;
  }
};

test("an answer in the background is made to its end after its client has left, and is asked for by its id", async (t) => {
  const { client, provider } = await told(t);
  const begun = await client.responses.create({ model: "small", input: "How deep?", background: true });
  assert.deepEqual([begun.status, begun.output, begun.background], ["queued", [], true]);
  const asked = await provider.next();
  assert.equal(asked.messages.length, 1);
  asked.say("Four ");
  assert.ok(["queued", "in_progress"].includes((await client.responses.retrieve(begun.id)).status!));
  asked.say("fathoms.");
  asked.end();
  const done = await untilDone(client, begun.id);
  assert.deepEqual([done.status, done.output_text, done.id], ["completed", "Four fathoms.", begun.id]);
  const next = client.responses.create({ model: "small", input: "And now?", previous_response_id: begun.id });
  const again = await provider.next();
  assert.equal(again.messages.length, 3);
  again.say("Five.");
  again.end();
  assert.equal((await next).output_text, "Five.");
});

test("a stream that its client lost is taken up where it was, live, once it has ended, and from the log alone", async (t) => {
  const { client, provider, home } = await told(t);
  const asking = client.responses.create({ model: "small", input: "Count.", background: true, stream: true });
  const asked = await provider.next();
  asked.say("one ");
  const stream = await asking;
  const first: OpenAI.Responses.ResponseStreamEvent[] = [];
  let id = "";
  for await (const event of stream) {
    first.push(event);
    if (event.type === "response.created") id = event.response.id;
    if (event.type === "response.output_text.delta") break;
  }
  const last = first.at(-1)!.sequence_number;
  const resumed = await client.responses.retrieve(id, { stream: true, starting_after: last });
  asked.say("two ");
  asked.say("three");
  asked.end();
  const rest: OpenAI.Responses.ResponseStreamEvent[] = [];
  for await (const event of resumed) rest.push(event);
  const numbers = [...first, ...rest].map(({ sequence_number: number }) => number);
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => index),
  );
  assert.equal(rest.at(-1)!.type, "response.completed");
  const helper = async (at: OpenAI) => {
    const deltas: string[] = [];
    const followed = at.responses.stream({ response_id: id, starting_after: last });
    followed.on("response.output_text.delta", ({ delta }) => deltas.push(delta));
    return { text: (await followed.finalResponse()).output_text, deltas };
  };
  assert.deepEqual(await helper(client), { text: "one two three", deltas: ["two ", "three"] });
  const other = createGateway({ home, ...PATIENT });
  t.after(() => other.close());
  const elsewhere = openaiAt((await other.listen({ port: 0 })).url);
  assert.equal((await helper(elsewhere)).text, "one two three");
  const whole: OpenAI.Responses.ResponseStreamEvent[] = [];
  for await (const event of await elsewhere.responses.retrieve(id, { stream: true, starting_after: last }))
    whole.push(event);
  assert.ok(whole.some((event) => event.type === "response.output_text.done" && event.text === "one two three"));
  assert.equal(whole.at(-1)!.sequence_number, rest.at(-1)!.sequence_number);
});

test("an answer in the background can be cancelled; what it had said is in the log", async (t) => {
  const { client, provider, home } = await told(t);
  const { id } = await client.responses.create({ model: "small", input: "Tell all.", background: true, stream: false });
  const asked = await provider.next();
  asked.say("Once upon");
  const cancelled = await client.responses.cancel(id);
  assert.equal(cancelled.status, "cancelled");
  await asked.closed;
  assert.equal((await client.responses.retrieve(id)).status, "cancelled");
  assert.equal((await client.responses.cancel(id)).status, "cancelled");
  const whole = client.responses.create({ model: "small", input: "Short." });
  const second = await provider.next();
  second.say("Yes.");
  second.end();
  await refused(client.responses.cancel((await whole).id), 400, "invalid_value");
  assert.equal((await home.store.threads()).threads.length, 2);
});

test("a provider that refuses in the background is told with the response, not with a status", async (t) => {
  const { client, provider } = await told(t);
  const { id } = await client.responses.create({ model: "small", input: "x", background: true });
  (await provider.next()).refuse(400, "not today");
  const failed = await untilDone(client, id);
  assert.equal(failed.status, "failed");
  assert.match(failed.error!.message, /not today/);
});

test("two at once in one conversation: the second is told that it is locked", async (t) => {
  const { client, provider } = await told(t);
  const { id } = await client.conversations.create({});
  const first = client.responses.create({ model: "small", input: "one", conversation: id });
  const asked = await provider.next();
  await refused(
    client.responses.create({ model: "small", input: "two", conversation: id }),
    400,
    "conversation_locked",
  );
  asked.say("heard");
  asked.end();
  assert.equal((await first).output_text, "heard");
  const items = (await client.conversations.items.list(id, { order: "asc" })).data;
  assert.deepEqual(
    items.map((item) => (item as { role: string }).role),
    ["user", "assistant"],
  );
});

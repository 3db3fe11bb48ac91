import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { replay } from "palimpsest/internal/threads";
import { type BeforeProvider, type BeforeProviderOptions, beforeProvider } from "../../test/before-provider.ts";

type Message = OpenAI.ChatCompletionMessageParam;

function clientOf({ url }: Pick<BeforeProvider, "url">, headers: Record<string, string> = {}): OpenAI {
  return new OpenAI({ apiKey: "client", baseURL: `${url}/v1`, maxRetries: 0, defaultHeaders: headers });
}

async function ask(client: OpenAI, messages: readonly Message[], more: object = {}) {
  const { data, response } = await client.chat.completions
    .create({ model: "gpt", messages: [...messages], ...more })
    .withResponse();
  const header = (name: string) => response.headers.get(`x-palimpsest-${name}`);
  const place = { match: header("match"), fork: header("fork"), thread: header("thread"), view: header("view") };
  return { message: data.choices[0]!.message, ...place };
}

async function said({ home }: BeforeProvider, threadId: string | null): Promise<unknown[]> {
  const bodies: unknown[] = [];
  for await (const { body } of replay(home, threadId!)) bodies.push(JSON.parse(body).content);
  return bodies;
}

const numbered: BeforeProviderOptions = { respond: ({ index }) => `answer ${index}` };
const user = (content: string): Message => ({ role: "user", content });

test("a conversation that is sent again and again is one thread, and its bytes reach the provider as they were", async (t) => {
  const served = await beforeProvider(t, numbered);
  const client = clientOf(served);
  const first = await ask(client, [{ role: "system", content: "now: 1" }, user("one")]);
  assert.deepEqual([first.match, first.view, first.message.content], ["new", "verbatim", "answer 0"]);
  const second = await ask(client, [
    { role: "system", content: "now: 2" },
    user("one"),
    { role: "assistant", content: "answer 0" },
    user("two"),
  ]);
  assert.deepEqual([second.match, second.thread], ["extended", first.thread]);
  assert.deepEqual(await said(served, first.thread), ["one", "answer 0", "two", "answer 1"]);
  const [, sent] = served.provider.requests;
  assert.equal(sent!.body!["model"], "m-gpt");
  assert.equal((sent!.body!["messages"] as unknown[]).length, 4);
});

test("a new thread gets the user's first words as its title, without what the client put before them", async (t) => {
  const served = await beforeProvider(t, numbered);
  const content = [
    { type: "text", text: "<reminder>Today is Tuesday.</reminder>" },
    { type: "text", text: "When does the tide turn?" },
  ] as const;
  const { thread } = await ask(clientOf(served), [{ role: "user", content: [...content] }]);
  assert.equal((await served.home.store.head(thread!))!.state["title"], "When does the tide turn?");
});

test("a client that names its thread and sends only what is new gets the whole conversation to the provider", async (t) => {
  const served = await beforeProvider(t, numbered);
  const client = clientOf(served);
  const say = (content: string) =>
    client.chat.completions.create(
      { model: "gpt", messages: [user(content)] },
      { headers: { "X-Palimpsest-Thread": "ada" } },
    );
  await say("I am Ada.");
  await say("Who am I?");
  const sent = served.provider.requests.at(-1)!.body!["messages"] as readonly { readonly content: unknown }[];
  assert.deepEqual(
    sent.map(({ content }) => content),
    ["I am Ada.", "answer 0", "Who am I?"],
  );
  assert.deepEqual(await said(served, "ada"), ["I am Ada.", "answer 0", "Who am I?", "answer 1"]);
});

test("an edit and an answer asked for again go on in forks, and nothing is lost", async (t) => {
  const served = await beforeProvider(t, numbered);
  const client = clientOf(served);
  const first = await ask(client, [user("one")]);
  const known = [user("one"), { role: "assistant", content: "answer 0" } as const];
  await ask(client, [...known, user("two")]);
  const edited = await ask(client, [...known, user("other")]);
  assert.deepEqual([edited.match, edited.fork], ["forked", "other-way"]);
  assert.deepEqual(await said(served, edited.thread), ["one", "answer 0", "other", "answer 2"]);
  const again = await ask(client, [...known, user("two")]);
  assert.equal(again.match, "forked");
  assert.deepEqual(await said(served, again.thread), ["one", "answer 0", "two", "answer 3"]);
  assert.deepEqual(await said(served, first.thread), ["one", "answer 0", "two", "answer 1"]);
  const beginning = await ask(client, [user("one")]);
  assert.equal(beginning.match, "new", "an opener alone is nobody's");
});

test("a request that finds its thread held goes on in a fork, and the answer says why", async (t) => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<string>();
  const served = await beforeProvider(t, {
    respond({ index }) {
      if (index === 1) asked.resolve();
      return index === 1 ? answer.promise : `answer ${index}`;
    },
  });
  const client = clientOf(served);
  await ask(client, [user("one")]);
  const known = [user("one"), { role: "assistant", content: "answer 0" } as const];
  const slow = ask(client, [...known, user("two")]);
  await asked.promise;
  const other = await ask(client, [...known, user("two")], { temperature: 0 });
  answer.resolve("at last");
  assert.deepEqual([other.match, other.fork], ["forked", "held"]);
  assert.deepEqual([(await slow).match, (await slow).fork], ["extended", null]);
  const { requests } = (await (await fetch(`${served.url}/api/requests`)).json()) as { requests: { fork: string }[] };
  assert.deepEqual(requests.map(({ fork }) => fork).sort(), ["held", null, null]);
});

test("a stream passes through the official helper and is kept", async (t) => {
  const served = await beforeProvider(t, {
    respond: () => ({ text: "word ".repeat(40), calls: [{ id: "c1", name: "sound", input: { buoy: 1 } }] }),
  });
  const client = clientOf(served);
  const tools = [{ type: "function" as const, function: { name: "sound", parameters: { type: "object" } } }];
  const stream = client.chat.completions.stream({
    model: "gpt",
    messages: [user("one")],
    tools,
    stream_options: { include_usage: true },
  });
  const heard = await stream.finalMessage();
  const next = await ask(
    client,
    [user("one"), heard as Message, { role: "tool", tool_call_id: "c1", content: "deep" }],
    { tools },
  );
  assert.equal(next.match, "extended");
  assert.equal((await said(served, next.thread)).length, 4);
});

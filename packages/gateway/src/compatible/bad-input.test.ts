// What clients, providers and clocks do wrong, row by row: the client sees what the vendor would say, and the log is whole.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTick } from "node:timers/promises";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { createKey } from "palimpsest/internal/key-operations";
import { replay } from "palimpsest/internal/threads";
import { verify } from "palimpsest/session";
import { ask, CHAT, MESSAGES, type Message, RESPONSES, talk, user } from "../../test/asking.ts";
import { type BeforeProvider, beforeProvider } from "../../test/before-provider.ts";
import { ManualTime } from "../../test/manual-time.ts";
import { type Running, type RunningOptions, running, sent } from "../../test/running.ts";

const JSON_TYPE = { "content-type": "application/json" };

async function whole({ home }: Pick<Running, "home">): Promise<readonly unknown[][]> {
  const said: unknown[][] = [];
  for (const { header } of (await home.store.threads()).threads) {
    assert.equal((await verify(home, header.id)).kind, "whole");
    const bodies: unknown[] = [];
    for await (const { body, origin } of replay(home, header.id)) bodies.push([origin, JSON.parse(body).content]);
    said.push(bodies);
  }
  return said;
}

/** A provider whose answers a test writes itself. */
async function provided(t: TestContext, answer: (outgoing: ServerResponse) => void, more: RunningOptions = {}) {
  const server = createServer(async (incoming, outgoing) => {
    for await (const _ of incoming);
    answer(outgoing);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const entry = (name: string, provider: string) =>
    `  - {name: ${name}, provider: ${provider}, model: m, base_url: "${base}", api_key: k}\n`;
  return running(t, { ...more, config: `models:\n${entry("gpt", "openai")}${entry("claude", "anthropic")}` });
}

test("a page instead of an answer is handed on as it is, and nothing of it is taken for words", async (t) => {
  const page = "<html><body>502 Bad Gateway</body></html>";
  for (const status of [200, 502]) {
    const served = await provided(t, (outgoing) => {
      outgoing.writeHead(status, { "content-type": "text/html" });
      outgoing.end(page);
    });
    for (const path of [CHAT, MESSAGES, RESPONSES]) {
      const answer = await ask(served.url, [user(path)], { path, body: { stream: true } });
      assert.deepEqual([answer.status, answer.text], [status, page]);
    }
    assert.deepEqual(
      (await whole(served)).map((bodies) => bodies.length),
      [1, 1, 1],
      "the questions, and no answer",
    );
  }
});

test("a limit of the provider reaches the client with when to come again, and the same request goes on in its thread", async (t) => {
  const served = await beforeProvider(t, {
    respond: () => "ok",
    faults: { 0: { kind: "rate-limit", retryAfterSeconds: 7 }, 2: { kind: "rate-limit", retryAfterSeconds: 7 } },
  });
  for (const path of [CHAT, MESSAGES]) {
    const limited = await ask(served.url, [user(path)], { path });
    assert.deepEqual([limited.status, limited.headers.get("retry-after")], [429, "7"]);
    const again = await ask(served.url, [user(path)], { path });
    assert.deepEqual([again.status, again.header("thread")], [200, limited.header("thread")]);
  }
  assert.deepEqual(
    (await whole(served)).map((bodies) => bodies.length),
    [2, 2],
  );
});

test("a client that leaves in the middle: the provider is let go, and what was heard is in the log as far as it came", async (t) => {
  const closed = Promise.withResolvers<void>();
  const time = new ManualTime();
  const half = (outgoing: ServerResponse) => {
    outgoing.writeHead(200, { "content-type": "text/event-stream" });
    const delta = { role: "assistant", content: "half an ans" };
    outgoing.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`);
    outgoing.on("close", () => closed.resolve());
  };
  const served = await provided(t, half, { after: time.after });
  const body = JSON.stringify({ model: "gpt", stream: true, messages: [user("one")] });
  const options = { host: "127.0.0.1", port: served.port, path: CHAT, method: "POST", headers: JSON_TYPE };
  const outgoing = request(options);
  outgoing.on("error", () => {});
  outgoing.end(body);
  const [incoming] = await once(outgoing, "response");
  await once(incoming, "data");
  const thread = String(incoming.headers["x-palimpsest-thread"]);
  const before = time.waiting;
  outgoing.destroy();
  while (time.waiting === before) await nextTick();
  // So long without a listener.
  await time.pass(5_000);
  await closed.promise;
  while ((await served.home.store.head(thread))?.messages !== 2) await nextTick();
  assert.deepEqual(await whole(served), [
    [
      ["user", "one"],
      ["aborted", "half an ans"],
    ],
  ]);
});

test("a body over the limit is refused in the vendor's words and type, before it is read", async (t) => {
  const served = await running(t, { config: "gateway: {body_limit_mb: 1}\n" });
  const body = JSON.stringify({ model: "any", max_tokens: 1, messages: [user("x".repeat(1_100_000))] });
  const chat = await sent(served, CHAT, { method: "POST", headers: JSON_TYPE, body });
  assert.deepEqual([chat.status, JSON.parse(chat.text).error.type], [413, "invalid_request_error"]);
  const own = await sent(served, MESSAGES, { method: "POST", headers: JSON_TYPE, body });
  assert.deepEqual([own.status, JSON.parse(own.text).error.type], [413, "request_too_large"]);
  assert.deepEqual(await whole(served), []);
});

test("results without calls and ids that stand twice go to the provider as they came, whose verdict the client hears", async (t) => {
  const served = await beforeProvider(t, { respond: () => "ok" });
  const orphan = { role: "tool", tool_call_id: "nobody", content: "7" };
  const lonely = await ask(served.url, [user("one"), orphan]);
  const { verdict } = served.provider.requests[0]!;
  assert.deepEqual([lonely.status, verdict.kind], [400, "refused"]);
  const call = (id: string) => ({ id, type: "function", function: { name: "f", arguments: "{}" } });
  const twice = { role: "assistant", content: null, tool_calls: [call("c1"), call("c1")] };
  const result = { role: "tool", tool_call_id: "c1", content: "7" };
  const doubled = await ask(served.url, [user("two"), twice, result, result]);
  assert.ok(doubled.status < 500, doubled.text);
  const fine = await ask(served.url, [user("three")]);
  assert.equal(fine.status, 200);
  await whole(served);
});

test("another user's thread by its name is a thread of one's own, and nothing of it is told or written", async (t) => {
  const served = await beforeProvider(t, { respond: ({ index }) => `answer ${index}` });
  const [ada, bob] = await Promise.all(
    ["ada", "bob"].map(async (name) => {
      const row = { user: name, role: "user", expiresAt: null } as const;
      return { authorization: `Bearer ${(await createKey(served.home.store.keys!, row, new Date())).key}` };
    }),
  );
  const named = { "x-palimpsest-thread": "mine" };
  await ask(served.url, [user("Ada's secret")], { headers: { ...ada!, ...named } });
  const theirs = await ask(served.url, [user("Go on")], { headers: { ...bob!, ...named } });
  assert.deepEqual([theirs.status, theirs.header("match")], [200, "new"]);
  assert.doesNotMatch(JSON.stringify(served.provider.requests.at(-1)!.body), /secret/);
  assert.equal((await served.home.forUser("ada").store.head("mine"))?.messages, 2);
});

test("a clock that jumps, back and forth, changes nothing about what is known", async (t) => {
  let now = Date.parse("2026-06-01T12:00:00Z");
  const clock = () => new Date(now);
  const served = await beforeProvider(t, { window: 4000, respond: () => "ok", running: { clock } });
  let history: readonly Message[] = [];
  for (const jump of [0, -86_400_000, 400 * 86_400_000, -3_600_000, -500 * 86_400_000, 1]) {
    now += jump;
    const { messages, heard } = await talk(served.url, 3, { history });
    history = messages;
    assert.deepEqual(new Set(heard.map(({ status }) => status)), new Set([200]));
    assert.equal(heard.at(-1)!.header("match"), "extended");
  }
  assert.equal((await whole(served)).length, 1);
});

// What went wrong elsewhere.

test("a fork that uploads the inherited log again stores nothing of it twice", async (t) => {
  const served = await beforeProvider(t, { respond: ({ index }) => `answer ${index}` });
  const { messages } = await talk(served.url, 12);
  const inherited = messages.slice(0, 12);
  const branches = await Promise.all(
    ["left", "right", "up"].map((way) => ask(served.url, [...inherited, user(`Go ${way}`)])),
  );
  for (const branch of branches) {
    assert.equal(branch.header("match"), "forked");
    const id = branch.header("thread")!;
    let own = 0;
    const { forkedAt } = (await served.home.store.header(id))!;
    for await (const { record } of served.home.store.records(id, { kinds: ["message"] }))
      if (record.seq > (forkedAt ?? 0)) own += 1;
    assert.equal(own, 2, "the question and its answer");
  }
});

test("a thought that a client clipped but whose signature it kept is never a refusal", async (t) => {
  const served = await beforeProvider(t, {
    binding: "prefix",
    respond: ({ index }) => ({ reasoning: `A long thought ${index}, with reasons.`, text: `answer ${index}` }),
  });
  const more = { path: MESSAGES, body: { model: "bound", thinking: { type: "adaptive" } } };
  const first = await ask(served.url, [user("one")], more);
  const clipped = (first.message["content"] as Message[]).map((block) =>
    block["type"] === "thinking" ? { ...block, thinking: "A long" } : block,
  );
  const next = await ask(served.url, [user("one"), { role: "assistant", content: clipped }, user("two")], more);
  assert.deepEqual([next.status, next.header("match")], [200, "extended"]);
  assert.match(JSON.stringify(served.provider.requests.at(-1)!.body), /A long thought 0, with reasons/);
});

test("a system prompt that changes every turn costs a binding model's thoughts and nothing else", async (t) => {
  const served = await beforeProvider(t, {
    binding: "prefix",
    respond: ({ index }) => ({ reasoning: `Thought ${index}.`, text: `answer ${index}` }),
  });
  const messages: Message[] = [];
  for (let turn = 1; turn <= 4; turn += 1) {
    messages.push(user(`turn ${turn}`));
    const body = { model: "bound", thinking: { type: "adaptive" }, system: `It is turn ${turn}.` };
    const answer = await ask(served.url, messages, { path: MESSAGES, body });
    assert.equal(answer.status, 200, answer.text);
    messages.push(answer.message);
  }
});

test("a summary that fails hides nothing without one, and none of another conversation gets in", async (t) => {
  const respond = ({ index }: { readonly index: number }) => `Answer ${index}: ${"seven fathoms. ".repeat(12)}`;
  const served = await beforeProvider(t, {
    stated: 4000,
    respond,
    config:
      "  - {name: broken, provider: openai, model: b, api_key: $NOT_SET}\nsummarization: {model_name: broken, trigger: [{type: fraction, value: 0.8}]}\n",
  });
  const about = (what: string) => (turn: number) =>
    `The ${what}, part ${turn}: ${`${what} and nothing else, `.repeat(40)}`;
  const pier = await talk(served.url, 16, { question: about("pier") });
  const reef = await talk(served.url, 16, { question: about("reef") });
  for (const [{ heard }, own, other] of [
    [pier, "pier", "reef"],
    [reef, "reef", "pier"],
  ] as const) {
    assert.deepEqual([heard.at(-1)!.status, heard.at(-1)!.header("view")], [200, "compacted"]);
    const last = served.provider.requests.filter(({ body }) => JSON.stringify(body).includes(`The ${own}, part 16`));
    const text = JSON.stringify(last.at(-1)!.body);
    assert.ok(last.at(-1)!.turns.length > 2 && !text.includes(other));
  }
  for (const bodies of await whole(served)) assert.equal(bodies.length, 32);
});

test("no tool, marker or message shows up in a client's transcript that it did not send or hear", async (t) => {
  const served = await beforeProvider(t, {
    window: 4000,
    respond: ({ index }) => `Answer ${index}: ${"seven fathoms. ".repeat(12)}`,
    config: "gateway: {evidence: true}\n",
  });
  const { messages, heard } = await talk(served.url, 20);
  assert.equal(heard.at(-1)!.header("view"), "compacted");
  assert.doesNotMatch(JSON.stringify(messages), /palimpsest|evidence|summary/i);
  for (const { tools, body } of served.provider.requests) {
    assert.deepEqual(tools, []);
    assert.deepEqual(Object.keys(body ?? {}).toSorted(), ["messages", "model"]);
  }
});

test("forwarded keys over HTTP: each vendor's goes to its own provider, each has a user, ours never leaves", async (t) => {
  const served: BeforeProvider = await beforeProvider(t, {
    apiKey: "sk-client",
    respond: () => "ok",
    config: "gateway: {forward_keys: true}\n",
  });
  const openai = new OpenAI({ apiKey: "sk-client", baseURL: `${served.url}/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: "sk-client", baseURL: served.url, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "one" }];
  assert.ok(await openai.chat.completions.create({ model: "gpt", messages }));
  assert.ok(await anthropic.messages.create({ model: "claude", max_tokens: 10, messages }));
  const counted = await anthropic.messages.countTokens({ model: "claude", messages });
  assert.ok(counted.input_tokens > 0);
  const wrong = new OpenAI({ apiKey: "sk-other", baseURL: `${served.url}/v1`, maxRetries: 0 });
  await assert.rejects(
    wrong.chat.completions.create({ model: "gpt", messages }),
    (error: InstanceType<typeof OpenAI.APIError>) => error.status === 401,
  );
  await assert.rejects(
    openai.chat.completions.create({ model: "local", messages }),
    (error: InstanceType<typeof OpenAI.APIError>) => error.status === 401 || error.status === 404,
    "an entry that is nobody's in particular gets no client's key",
  );
});

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { beforeProvider } from "../../test/before-provider.ts";
import { type Answer, noting } from "../../test/http-server.ts";
import { running, sent } from "../../test/running.ts";

const JSON_TYPE = { "content-type": "application/json" };
const QUESTION = { messages: [{ role: "user" as const, content: "How deep is it?" }] };

test("with nothing configured the offline model answers all three protocols, streaming and not", async (t) => {
  const { url } = await running(t);
  const openai = new OpenAI({ apiKey: "any", baseURL: `${url}/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: "any", baseURL: url, maxRetries: 0 });
  const chat = await openai.chat.completions.create({ model: "any", ...QUESTION });
  assert.ok((chat.choices[0]!.message.content ?? "").length > 0);
  assert.ok((chat.usage?.prompt_tokens ?? 0) > 0);
  const streamed = await openai.chat.completions.stream({ model: "any", ...QUESTION }).finalMessage();
  assert.equal(streamed.content, chat.choices[0]!.message.content);
  const message = await anthropic.messages.create({ model: "any", max_tokens: 100, ...QUESTION });
  assert.equal(message.stop_reason, "end_turn");
  const heard = await anthropic.messages.stream({ model: "any", max_tokens: 100, ...QUESTION }).finalMessage();
  assert.deepEqual(heard.content, message.content);
  const response = await openai.responses.create({ model: "any", input: "How deep is it?" });
  assert.ok(response.output_text.length > 0);
  const final = await openai.responses.stream({ model: "any", input: "How deep is it?" }).finalResponse();
  assert.equal(final.output_text, response.output_text);
});

test("a model of another vendor answers with calls, in the protocol of the request", async (t) => {
  const { url, provider } = await beforeProvider(t, {
    respond: ({ turns }) =>
      turns.at(-1)?.role === "tool"
        ? "deep"
        : { text: "I'll look.", calls: [{ id: "c1", name: "sound", input: { buoy: 1 } }] },
  });
  const anthropic = new Anthropic({ apiKey: "any", baseURL: url, maxRetries: 0 });
  const tools = [{ name: "sound", input_schema: { type: "object" as const, properties: {} } }];
  const asked = { role: "user" as const, content: "How deep?" };
  const first = await anthropic.messages
    .stream({ model: "local", max_tokens: 100, tools, messages: [asked] })
    .finalMessage();
  assert.equal(first.stop_reason, "tool_use");
  const call = first.content.find((block) => block.type === "tool_use")!;
  const result = {
    role: "user" as const,
    content: [{ type: "tool_result" as const, tool_use_id: call.id, content: "7" }],
  };
  const { data: second, response } = await anthropic.messages
    .create({
      model: "local",
      max_tokens: 100,
      tools,
      messages: [asked, { role: "assistant", content: first.content }, result],
    })
    .withResponse();
  assert.deepEqual(
    second.content.map((block) => block.type === "text" && block.text),
    ["deep"],
  );
  assert.equal(response.headers.get("x-palimpsest-match"), "extended");
  assert.deepEqual(
    provider.requests.map(({ protocol, verdict }) => [protocol, verdict.kind]),
    [
      ["openai-chat", "answered"],
      ["openai-chat", "answered"],
    ],
  );
});

test("an image that is only named is not fetched for another vendor's model", async (t) => {
  const { url } = await running(t);
  const openai = new OpenAI({ apiKey: "any", baseURL: `${url}/v1`, maxRetries: 0 });
  const content = [{ type: "image_url" as const, image_url: { url: "http://127.0.0.1:1/x.png" } }];
  await assert.rejects(
    openai.chat.completions.create({ model: "any", messages: [{ role: "user", content }] }),
    (error: InstanceType<typeof OpenAI.APIError>) => error.status === 400 && /inline/.test(error.message),
  );
});

test("what another vendor's model can't take at all is refused in the vendor's words, and is no failure of the gateway", async (t) => {
  const { url, provider } = await beforeProvider(t);
  const openai = new OpenAI({ apiKey: "any", baseURL: `${url}/v1`, maxRetries: 0 });
  const content = [{ type: "input_audio" as const, input_audio: { data: "AAAA", format: "wav" as const } }];
  await assert.rejects(
    openai.chat.completions.create({ model: "claude", messages: [{ role: "user", content }] }),
    (error: InstanceType<typeof OpenAI.APIError>) => error.status === 400 && /audio/.test(error.message),
  );
  assert.equal(provider.requests.length, 0);
});

test("another vendor's model is told which tool to call and which form its answer has", async (t) => {
  const { url, provider } = await beforeProvider(t, { respond: () => "deep" });
  const openai = new OpenAI({ apiKey: "any", baseURL: `${url}/v1`, maxRetries: 0 });
  const tools = [{ type: "function" as const, function: { name: "sound", parameters: { type: "object" } } }];
  await openai.chat.completions.create({ model: "claude", tools, tool_choice: "none", ...QUESTION });
  const schema = {
    type: "object",
    properties: { depth: { type: "number" } },
    required: ["depth"],
    additionalProperties: false,
  };
  const format = { type: "json_schema" as const, json_schema: { name: "depth", schema } };
  await openai.chat.completions.create({ model: "claude", response_format: format, ...QUESTION });
  const [chosen, formed] = provider.requests.map(({ body }) => body as Record<string, unknown>);
  assert.deepEqual(chosen?.["tool_choice"], { type: "none" });
  assert.match(JSON.stringify(formed), /"depth":\{"type":"number"\}/);
});

test("both vendors' clients list the models of the configuration", async (t) => {
  const { url } = await beforeProvider(t);
  const openai = new OpenAI({ apiKey: "any", baseURL: `${url}/v1` });
  const anthropic = new Anthropic({ apiKey: "any", baseURL: url });
  const names = ["gpt", "claude", "local", "bound"];
  const [theirs, others]: string[][] = [[], []];
  for await (const { id } of await openai.models.list()) theirs!.push(id);
  for await (const { id } of await anthropic.models.list()) others!.push(id);
  assert.deepEqual([theirs, others], [names, names]);
  assert.equal((await openai.models.retrieve("gpt")).id, "gpt");
});

test("what a client is refused is in its vendor's words", async (t) => {
  const { url, port } = await beforeProvider(t);
  const openai = new OpenAI({ apiKey: "any", baseURL: `${url}/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: "any", baseURL: url, maxRetries: 0 });
  await assert.rejects(
    openai.chat.completions.create({ model: "nobody", ...QUESTION }),
    (error: InstanceType<typeof OpenAI.APIError>) => error.status === 404 && error.code === "model_not_found",
  );
  await assert.rejects(
    anthropic.messages.create({ model: "nobody", max_tokens: 10, ...QUESTION }),
    (error: InstanceType<typeof Anthropic.APIError>) => error.status === 404 && error.type === "not_found_error",
  );
  for (const body of ["", "[]", "{", '{"model":""}', '{"messages":[]}']) {
    const { status, text } = await sent({ port }, "/v1/chat/completions", { method: "POST", headers: JSON_TYPE, body });
    assert.equal(status, 400, body);
    assert.equal(typeof JSON.parse(text).error.message, "string");
  }
  const unread = await sent({ port }, "/v1/chat/completions", {
    method: "POST",
    headers: JSON_TYPE,
    body: JSON.stringify({ model: "gpt", messages: [{ role: "nobody" }] }),
  });
  assert.equal(unread.status, 400, "the provider says what is wrong");
  const named = await sent({ port }, "/v1/chat/completions", {
    method: "POST",
    headers: { ...JSON_TYPE, "x-palimpsest-thread": "../x" },
    body: JSON.stringify({ model: "gpt", ...QUESTION }),
  });
  assert.deepEqual([named.status, JSON.parse(named.text).error.code], [400, "bad-thread-id"]);
});

/** A provider that only notes what it gets, and a configuration that names it. */
async function noted(t: TestContext, answer: Answer = {}) {
  const { url, seen } = await noting(t, answer);
  const config = `models:\n  - {name: gpt, provider: openai, model: gpt, base_url: "${url}/v1", api_key: operators}\n`;
  return { seen, config };
}

test("a client's bytes and its vendor's headers reach the provider; ours, cookies and keys don't", async (t) => {
  const { seen, config } = await noted(t, { headers: { "set-cookie": "a=b", "x-ratelimit-remaining-tokens": "7" } });
  const served = await running(t, { config });
  const body = '{ "messages" : [{"content":"h\\u0069","role":"user"}],"model":"gpt", "unknown_field": 1.0 }';
  const { headers } = await sent(served, "/v1/chat/completions?x=1", {
    method: "POST",
    headers: {
      ...JSON_TYPE,
      authorization: "Bearer clients",
      cookie: "c=d",
      "x-palimpsest-mode": "on",
      "openai-beta": "x",
      connection: "keep-alive, x-hop",
      "x-hop": "1",
    },
    body,
  });
  assert.equal(seen[0]!.body, body);
  assert.equal(seen[0]!.url, "/v1/chat/completions?x=1");
  const got = seen[0]!.headers;
  assert.equal(got.authorization, "Bearer operators");
  assert.equal(got["openai-beta"], "x");
  for (const name of ["cookie", "x-palimpsest-mode", "x-provider-key", "x-hop"])
    assert.equal(got[name], undefined, name);
  assert.equal(headers["x-ratelimit-remaining-tokens"], "7");
  assert.equal(headers["set-cookie"], undefined);
});

test("any other path passes straight through and leaves nothing behind", async (t) => {
  const { seen, config } = await noted(t, { body: '{"data":[]}' });
  const served = await running(t, { config });
  const body = JSON.stringify({ model: "gpt", input: "x" });
  const answer = await sent(served, "/v1/embeddings", { method: "POST", headers: JSON_TYPE, body });
  assert.deepEqual([answer.status, answer.text, answer.headers["x-palimpsest-match"]], [200, '{"data":[]}', "passed"]);
  assert.deepEqual([seen[0]!.url, seen[0]!.body], ["/v1/embeddings", body]);
  assert.deepEqual((await served.home.store.threads()).threads, []);
});

test("a provider that can't be reached is a 502 in the vendor's words, and the question is asked again in the same thread", async (t) => {
  const config =
    'models:\n  - {name: gpt, provider: openai, model: gpt, base_url: "http://127.0.0.1:1/v1", api_key: k}\n';
  const served = await running(t, { config });
  const body = JSON.stringify({ model: "gpt", ...QUESTION });
  for (let round = 0; round < 2; round += 1) {
    const answer = await sent(served, "/v1/chat/completions", { method: "POST", headers: JSON_TYPE, body });
    assert.deepEqual([answer.status, JSON.parse(answer.text).error.code], [502, "unreachable"]);
  }
  const { threads } = await served.home.store.threads();
  assert.deepEqual(
    threads.map(({ messages }) => messages),
    [1],
  );
});

test("another vendor's provider that is away, has no key here or gives an unreadable answer is told as its own failure", async (t) => {
  const { config: page } = await noted(t, { headers: { "content-type": "text/html" }, body: "<html>busy</html>" });
  const address = /http:[^"]+/.exec(page)![0];
  const entry = (name: string, rest: string) => `  - {name: ${name}, provider: anthropic, model: m, ${rest}}\n`;
  const away = entry("away", 'base_url: "http://127.0.0.1:1/v1", api_key: k');
  const config = `models:\n${away}${entry("keyless", 'base_url: "http://127.0.0.1:1/v1"')}${entry("page", `base_url: "${address}", api_key: k`)}`;
  const served = await running(t, { config });
  for (const stream of [false, true])
    for (const [model, status, code] of [
      ["away", 502, "unreachable"],
      ["keyless", 401, "invalid_api_key"],
      ["page", 502, "bad-response"],
    ] as const) {
      const body = JSON.stringify({ model, stream, ...QUESTION });
      const answer = await sent(served, "/v1/chat/completions", { method: "POST", headers: JSON_TYPE, body });
      assert.deepEqual([answer.status, JSON.parse(answer.text).error.code], [status, code], `${model} ${stream}`);
    }
});

test("what fails here is in the log where the client is told so, also when another vendor's model is asked", async (t) => {
  const config =
    'models:\n  - {name: odd, provider: anthropic, model: m, base_url: "ftp://127.0.0.1/v1", api_key: k}\n';
  const served = await running(t, { config });
  const body = JSON.stringify({ model: "odd", ...QUESTION });
  const { status } = await sent(served, "/v1/chat/completions", { method: "POST", headers: JSON_TYPE, body });
  assert.equal(status, 500);
  assert.match(served.lines.at(-1)?.error ?? "", /ModelError.*base_url/);
});

test("a model's name that is not well formed is a bad request", async (t) => {
  const { status } = await sent(await running(t), "/v1/models/%zz");
  assert.equal(status, 400);
});

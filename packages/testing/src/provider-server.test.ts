import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import { type ProviderServerOptions, startProviderServer } from "./provider-server.ts";

type Body = Record<string, unknown>;

const PATHS = { "openai-chat": "/chat/completions", "openai-responses": "/responses", anthropic: "/messages" };
type Protocol = keyof typeof PATHS;

const HELLO: Record<Protocol, Body> = {
  "openai-chat": { model: "m", messages: [{ role: "user", content: "hello" }] },
  "openai-responses": { model: "m", input: "hello" },
  anthropic: { model: "m", max_tokens: 100, messages: [{ role: "user", content: "hello" }] },
};

async function started(t: TestContext, options?: ProviderServerOptions) {
  const server = await startProviderServer(options);
  t.after(() => server.close());
  const send = async (protocol: Protocol, body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(server.url + PATHS[protocol], {
      method: "POST",
      headers: { "content-type": "application/json", "anthropic-version": "2023-06-01", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: safeJson(text) };
  };
  return { server, send };
}

function safeJson(text: string): Body {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return {};
  }
}

const errorOf = (json: Body): Body => json["error"] as Body;

for (const protocol of Object.keys(PATHS) as Protocol[]) {
  test(`${protocol}: a body that isn't JSON, has no model or no messages is refused`, async (t) => {
    const { send, server } = await started(t);
    for (const body of ["{", "[]", {}, { ...HELLO[protocol], model: undefined }, { model: "m", max_tokens: 1 }]) {
      assert.equal((await send(protocol, body)).status, 400);
    }
    assert.ok(server.requests.every(({ verdict }) => verdict.kind === "refused"));
  });

  test(`${protocol}: more bytes than are allowed is 413`, async (t) => {
    const { send } = await started(t, { maxBytes: 10 });
    assert.equal((await send(protocol, HELLO[protocol])).status, 413);
  });

  test(`${protocol}: a wrong key is 401 and the key isn't repeated`, async (t) => {
    const { send } = await started(t, { apiKey: "right" });
    const refused = await send(protocol, HELLO[protocol], { authorization: "Bearer wrong-secret" });
    assert.equal(refused.status, 401);
    assert.doesNotMatch(refused.text, /wrong-secret/);
    assert.equal((await send(protocol, HELLO[protocol], { authorization: "Bearer right" })).status, 200);
  });

  test(`${protocol}: tools need names that the provider takes, each once`, async (t) => {
    const { send } = await started(t);
    const tool = (name: string) =>
      protocol === "openai-chat" ? { type: "function", function: { name } } : { type: "function", name };
    assert.equal((await send(protocol, { ...HELLO[protocol], tools: [tool("a b")] })).status, 400);
    assert.equal((await send(protocol, { ...HELLO[protocol], tools: [tool("a"), tool("a")] })).status, 400);
    assert.equal((await send(protocol, { ...HELLO[protocol], tools: [tool("a"), tool("b")] })).status, 200);
  });

  test(`${protocol}: an answer longer than the room left ends there`, async (t) => {
    const { send, server } = await started(t, { respond: () => "x".repeat(400), window: 20, count: charsPerToken(1) });
    const { json } = await send(protocol, HELLO[protocol]);
    const { verdict, tokens } = server.requests[0]!;
    assert.deepEqual(verdict, { kind: "answered", input: tokens, cached: 0, output: 20 - tokens });
    const stop = JSON.stringify(json);
    const words = {
      "openai-chat": /"finish_reason":"length"/,
      "openai-responses": /"status":"incomplete"/,
      anthropic: /"stop_reason":"model_context_window_exceeded"/,
    };
    assert.match(stop, words[protocol]);
  });

  test(`${protocol}: what two prompts begin with alike is reported as cached, if wanted`, async (t) => {
    const { send, server } = await started(t, { promptCache: "prefix" });
    await send(protocol, HELLO[protocol]);
    await send(protocol, HELLO[protocol]);
    const [first, second] = server.requests.map(({ verdict }) => verdict);
    assert.ok(first?.kind === "answered" && second?.kind === "answered");
    assert.deepEqual([first.cached, second.cached], [0, second.input]);
  });
}

test("each server says in its own words that a request is too long", async (t) => {
  const body = HELLO["openai-chat"];
  const options = { window: 3, count: charsPerToken(1) };
  const openai = await (await started(t, options)).send("openai-chat", body);
  assert.equal(openai.status, 400);
  assert.equal(errorOf(openai.json)["code"], "context_length_exceeded");
  assert.match(String(errorOf(openai.json)["message"]), /maximum context length is 3 tokens.*resulted in 9 tokens/);

  const responses = await (await started(t, options)).send("openai-responses", HELLO["openai-responses"]);
  assert.equal(errorOf(responses.json)["code"], "context_length_exceeded");

  const anthropic = await (await started(t, options)).send("anthropic", HELLO.anthropic);
  assert.equal(anthropic.status, 400);
  assert.equal(errorOf(anthropic.json)["message"], "prompt is too long: 9 tokens > 3 maximum");

  const vllm = await (await started(t, { ...options, overflow: "vllm" })).send("openai-chat", body);
  assert.equal(vllm.json["object"], "error");
  assert.match(String(vllm.json["message"]), /maximum context length is 3 tokens/);

  const llama = await (await started(t, { ...options, overflow: "llama.cpp" })).send("openai-chat", body);
  assert.equal(errorOf(llama.json)["type"], "exceed_context_size_error");
  assert.equal(errorOf(llama.json)["n_prompt_tokens"], 9);

  const large = await (await started(t, { ...options, overflow: "too-large" })).send("anthropic", HELLO.anthropic);
  assert.equal(large.status, 413);
  assert.equal(errorOf(large.json)["type"], "request_too_large");

  const stopped = await (await started(t, { ...options, overflow: "stop-reason" })).send("anthropic", HELLO.anthropic);
  assert.equal(stopped.status, 200);
  assert.equal(stopped.json["stop_reason"], "model_context_window_exceeded");

  const late = await (await started(t, { ...options, overflow: "in-stream" })).send("openai-responses", {
    ...HELLO["openai-responses"],
    stream: true,
  });
  assert.equal(late.status, 200);
  assert.match(late.text, /event: error\n.*context_length_exceeded/);
});

test("[F13] orphans, unanswered calls and broken order are refused in all protocols", async (t) => {
  const { send, server } = await started(t);
  const user = { role: "user", content: "hi" };
  const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };
  const use = { type: "tool_use", id: "c", name: "f", input: {} };
  const result = { type: "tool_result", tool_use_id: "c", content: "x" };
  const chat = (...messages: unknown[]) => send("openai-chat", { model: "m", messages });
  const items = (...input: unknown[]) => send("openai-responses", { model: "m", input });
  const claude = (...messages: unknown[]) => send("anthropic", { model: "m", max_tokens: 9, messages });
  const output = { type: "function_call_output", call_id: "c", output: "x" };
  const called = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
  const refused = [
    await chat(user, { role: "tool", tool_call_id: "c", content: "x" }),
    await chat(user, { role: "assistant", tool_calls: [call] }, user),
    await chat(),
    await items(user, output),
    await items(user, called, user),
    await items(user, { type: "item_reference", id: "msg_1" }),
    await items(user, { role: "assistant", content: [{ type: "input_text", text: "wrong kind" }] }, user),
    await claude(user, { role: "user", content: [result] }),
    await claude(user, { role: "assistant", content: [use] }, user),
    await claude(user, user),
    await claude({ role: "system", content: "s" }, user),
    await claude(user, { role: "assistant", content: "prefill" }),
    await claude(user, { role: "assistant", content: [{ ...use, id: "a.b" }] }, user),
  ];
  assert.deepEqual(
    refused.map(({ status }) => status),
    refused.map(() => 400),
  );
  assert.ok(server.requests.every(({ verdict }) => verdict.kind === "refused"));
  const taken = [
    await chat(user, { role: "assistant", tool_calls: [call] }, { role: "tool", tool_call_id: "c", content: "x" }),
    await items(user, called, { ...called, call_id: "d" }, output, { ...output, call_id: "d" }),
    await claude(user, { role: "assistant", content: [use] }, { role: "user", content: [result] }),
  ];
  assert.deepEqual(
    taken.map(({ status }) => status),
    [200, 200, 200],
  );
});

test("the rules can be left out, to see what a loose server would take", async (t) => {
  const { send } = await started(t, { rules: "off" });
  const orphan = { role: "tool", tool_call_id: "c", content: "x" };
  assert.equal((await send("openai-chat", { model: "m", messages: [orphan] })).status, 200);
});

test("Anthropic wants its version and a limit for the answer", async (t) => {
  const { send } = await started(t);
  const { max_tokens: _, ...unlimited } = HELLO.anthropic;
  assert.equal((await send("anthropic", unlimited)).status, 400);
  const response = await fetch(`${(await startOnce(t)).url}/messages`, {
    method: "POST",
    body: JSON.stringify(HELLO.anthropic),
  });
  assert.equal(response.status, 400);
  assert.match(await response.text(), /anthropic-version/);
});

test("requests made at the same time have numbers of their own, and faults hit the one they name", async (t) => {
  const { send, server } = await started(t, { faults: { 1: { kind: "rate-limit", retryAfterSeconds: 7 } } });
  const answers = await Promise.all([0, 1, 2].map(() => send("openai-chat", HELLO["openai-chat"])));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 429]);
  assert.equal(answers.find(({ status }) => status === 429)?.headers.get("retry-after"), "7");
  assert.deepEqual(server.requests.map(({ index }) => index).sort(), [0, 1, 2]);
});

test("long runs keep verdicts only", async (t) => {
  const { send, server } = await started(t, { record: "verdicts" });
  await send("openai-chat", HELLO["openai-chat"]);
  const [{ body, turns, verdict }] = server.requests as [(typeof server.requests)[0]];
  assert.deepEqual([body, turns, verdict.kind], [null, [], "answered"]);
});

test("a respond() that throws is not mistaken for the provider", async (t) => {
  const { send } = await started(t, {
    respond: () => {
      throw new Error("my test is wrong");
    },
  });
  const { status, text } = await send("openai-chat", HELLO["openai-chat"]);
  assert.equal(status, 500);
  assert.match(text, /my test is wrong/);
});

test("an unknown address is 404", async (t) => {
  const { url } = await startOnce(t);
  assert.equal((await fetch(`${url}/models`)).status, 404);
});

async function startOnce(t: TestContext) {
  const server = await startProviderServer();
  t.after(() => server.close());
  return server;
}

test("closing ends a stalled request and leaves nothing open", async () => {
  const server = await startProviderServer({ faults: { 0: { kind: "stall" }, 1: { kind: "stall", afterEvents: 2 } } });
  const body = JSON.stringify({ ...HELLO["openai-chat"], stream: true });
  const silent = fetch(`${server.url}/chat/completions`, { method: "POST", body });
  while (server.requests.length < 1) await new Promise((resolve) => setImmediate(resolve));
  const begun = await fetch(`${server.url}/chat/completions`, { method: "POST", body });
  const reader = begun.body!.getReader();
  assert.match(new TextDecoder().decode((await reader.read()).value), /"role":"assistant"/);
  await server.close();
  await assert.rejects(silent);
  await assert.rejects(reader.read());
});

test("anthropic: at most four cache marks, wherever they stand", async (t) => {
  const { send } = await started(t, {});
  const mark = { cache_control: { type: "ephemeral" } };
  const tools = [{ name: "x", input_schema: {}, ...mark }];
  const marked = [1, 2, 3].map((at) => ({ type: "text", text: `${at}`, ...mark }));
  const asked = { ...HELLO.anthropic, tools, messages: [{ role: "user", content: marked }] };
  assert.equal((await send("anthropic", asked)).status, 200);
  const refused = await send("anthropic", {
    ...asked,
    system: [{ type: "text", text: "Be brief.", ...mark }],
    ...mark,
  });
  assert.equal(refused.status, 400);
  assert.match(String(errorOf(refused.json)["message"]), /maximum of 4 blocks with cache_control.* Found 6/);
});

test("anthropic: thinking goes back behind the conversation it was made in, and behind no other; cache marks don't count", async (t) => {
  const { send } = await started(t, { binding: "prefix", respond: () => ({ reasoning: "hm", text: "yes" }) });
  const ask = { role: "user", content: [{ type: "text", text: "really?" }] };
  const asked = { ...HELLO.anthropic, system: "Be brief.", messages: [ask] };
  const { content } = (await send("anthropic", asked)).json;
  const [answer, next] = [
    { role: "assistant", content },
    { role: "user", content: "and now?" },
  ];
  const status = async (body: Body): Promise<number> => (await send("anthropic", { ...asked, ...body })).status;

  assert.equal(await status({ messages: [ask, answer, next] }), 200);
  const marked = { ...ask, content: [{ ...ask.content[0], cache_control: { type: "ephemeral" } }] };
  assert.equal(await status({ messages: [marked, answer, next] }), 200);
  assert.equal(await status({ messages: [ask, answer, next], system: "Be long." }), 400);
  assert.equal(await status({ messages: [ask, answer, next], tools: [{ name: "x", input_schema: {} }] }), 400);
  const other = await send("anthropic", { ...asked, messages: [{ ...ask, content: "really" }, answer, next] });
  assert.equal(other.status, 400);
  assert.match(String(errorOf(other.json)["message"]), /messages\.1.*bound to a different conversation/);
});

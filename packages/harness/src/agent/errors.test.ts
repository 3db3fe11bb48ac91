import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { scriptedModel } from "@palimpsest/testing";
import { agentKit } from "../../test/agent/agent-kit.ts";
import { createDeepAgent } from "../home/create-deep-agent.ts";
import { openStore } from "../stores/open.ts";
import { openSqlite } from "../stores/sqlite.ts";
import { StoreError } from "../stores/store-error.ts";
import { createAgent } from "./agent.ts";
import { AgentError, modelError } from "./errors.ts";

test("what a program in plain JavaScript gives by mistake is refused with a code", async (t) => {
  const untyped = createAgent as (options?: unknown) => unknown;
  assert.throws(() => untyped(), { code: "bad-model" });
  assert.throws(() => untyped(null), { code: "bad-model" });
  const deep = createDeepAgent as (options?: unknown) => unknown;
  assert.throws(() => deep(), { code: "bad-model", message: /takes a model object/ });
  assert.throws(() => deep(null), { code: "bad-model" });
  const { agent } = agentKit([]);
  t.after(() => agent.close());
  assert.throws(() => agent.stream(undefined as never), { code: "empty-prompt" });
  await assert.rejects(agent.generate(undefined as never), { code: "empty-prompt" });
  const given = { threadId: 5, prompt: "hi" } as never;
  await assert.rejects(agent.generate(given), {
    code: "bad-thread-id",
    message: /a thread id is a text, and a number/,
  });
});

test("a path, or a store that wasn't awaited, is refused as a store when the agent is made", async () => {
  const model = scriptedModel([]);
  const opening = openStore(":memory:");
  for (const create of [createAgent, createDeepAgent]) {
    const made = (store: unknown) => () => create({ model, store: store as never });
    const path = { code: "bad-store", message: /and the text "threads\.db" was given.*await openStore/ };
    assert.throws(made("threads.db"), path);
    assert.throws(made(opening), { code: "bad-store", message: /and a promise was given/ });
  }
  await (await opening).close();
});

test("an option that isn't one, and tools as a list, are refused by name", () => {
  const model = scriptedModel([]);
  const made =
    (given: object, create = createAgent) =>
    () =>
      create(Object.assign({ model }, given));
  assert.throws(made({ instruction: "Be brief." }), {
    code: "bad-options",
    message: "instruction is not an option; did you mean instructions?",
  });
  assert.throws(made({ tools: [{ name: "read" }] }), { code: "bad-options", message: /takes an object/ });
  assert.throws(made({ compaction: false }, createDeepAgent), { code: "bad-options" });
  for (const rules of ["Never x.", null, [1], { agnt: ["Never x."] }, { agent: "Never x." }, { user: ["Never x."] }])
    assert.throws(made({ rules }, createDeepAgent), { code: "bad-options", message: /`rules` takes a list/ });
});

test("an option that a run doesn't have is refused with the name that was meant", async (t) => {
  const { agent } = agentKit([]);
  t.after(() => agent.close());
  const given = { prompt: "hi", thread: "harbor" } as never;
  const refusal = { code: "bad-options", message: "thread is not an option of a run; did you mean threadId?" };
  await assert.rejects(agent.generate(given), refusal);
  assert.throws(() => agent.stream(given), refusal);
  await assert.rejects(agent.generate({ prompt: "hi", maxSteps: 3 } as never), {
    message: "maxSteps is not an option of a run",
  });
});

test("openStore without a path or an address says what it takes", async () => {
  const untyped = openStore as (target?: unknown) => Promise<unknown>;
  for (const given of [undefined, null, { path: "threads.db" }])
    await assert.rejects(untyped(given), { code: "bad-url", message: /openStore takes the path of a SQLite file/ });
});

const refusals = [
  { status: 429, code: "rate-limited", body: {}, headers: { "retry-after": "3600" }, retryAfterMs: 3_600_000 },
  { status: 429, code: "quota-exceeded", body: { error: { message: "used up", code: "insufficient_quota" } } },
  { status: 529, code: "overloaded", body: {} },
  { status: 400, code: "bad-request", body: { error: { message: "bad field" } } },
  { status: 404, code: "not-found", body: {} },
  { status: 500, code: "model-failed", body: {} },
] as const;
for (const { status, code, body, ...asked } of refusals) {
  test(`a provider's ${status} fails the run as ${code}, with its status, pause and cause`, async (t) => {
    const model = await modelAt(t, (response) => {
      response.writeHead(status, { "content-type": "application/json", ...("headers" in asked && asked.headers) });
      response.end(JSON.stringify(body));
    });
    const agent = createAgent({ model, retry: { maxRetries: 0 } });
    t.after(() => agent.close());
    const { end, error } = await agent.stream({ threadId: "t", prompt: "hi" }).result;
    assert.ok(end.kind === "failed" && error instanceof AgentError);
    const pause = "retryAfterMs" in asked ? asked.retryAfterMs : undefined;
    assert.deepEqual([end.code, end.status, end.retryAfterMs], [code, status, pause]);
    assert.deepEqual([error.code, error.status, error.retryAfterMs], [code, status, pause]);
    assert.equal((error.cause as { statusCode?: number }).statusCode, status);
    await assert.rejects(agent.generate({ threadId: "t" }), (thrown) => thrown instanceof AgentError);
  });
}

test("the provider's sentence and what to do next are joined without a stray full stop", async (t) => {
  for (const [status, said] of [
    [401, /refused the key \(401\): The key is bad; check api_key/],
    [404, /answered 404 for the model fake-1: The key is bad; check the model's name/],
  ] as const) {
    const model = await modelAt(t, (response) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: "The key is bad." } }));
    });
    const agent = createAgent({ model, retry: { maxRetries: 0 } });
    t.after(() => agent.close());
    const { error } = await agent.stream({ threadId: "t", prompt: "hi" }).result;
    assert.match(String(error?.message), said);
  }
});

test("the password of an address is in neither the message nor the cause of an error", () => {
  const cause = new Error("connect ECONNREFUSED postgres://svc:hunter2@10.0.0.5:5432/prod");
  const error = new AgentError("failed", `the tool failed: ${cause.message}`, { cause });
  const shown = "connect ECONNREFUSED postgres://svc:[secret]@10.0.0.5:5432/prod";
  assert.deepEqual([error.message, (error.cause as Error).message], [`the tool failed: ${shown}`, shown]);
  assert.equal(new AgentError("failed", "see http://127.0.0.1:80/a@b").message, "see http://127.0.0.1:80/a@b");
});

test("a 404 names the address without its key, the model, and what to check", async (t) => {
  const model = await modelAt(t, (response) => response.writeHead(404).end("Not Found"), "?key=sk-verysecret1");
  const agent = createAgent({ model });
  t.after(() => agent.close());
  const { end } = await agent.stream({ prompt: "hi" }).result;
  assert.ok(end.kind === "failed");
  assert.match(
    end.message,
    /^http:\/\/127.0.0.1:\d+\/v1\S* answered 404 for the model fake-1: Not Found; check .*base_url.* \/v1$/,
  );
  assert.ok(!end.message.includes("secret1"));
});

test("an answer that can't be read is told with the address that was asked", async (t) => {
  const model = await modelAt(t, (response) => {
    response.writeHead(200, { "content-type": "application/json" }).end('{"id":1}');
  });
  const call = { prompt: [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }] };
  const refused = await Promise.resolve(model.doGenerate(call)).catch(modelError);
  assert.match(String(refused), /http:\/\/127.0.0.1:\d+\/v1\S* answered 200: Invalid JSON response; check base_url$/);
});

test("a web page instead of a stream is said to be one", async (t) => {
  const model = await modelAt(t, (response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end("<!doctype html><p>Welcome</p>");
  });
  const agent = createAgent({ model });
  t.after(() => agent.close());
  const { end } = await agent.stream({ prompt: "hi" }).result;
  assert.ok(end.kind === "failed" && end.code === "bad-response");
  assert.match(end.message, /fake-1 answered with a web page .*check base_url/);
});

test("an unknown host is named and not tried again", async (t) => {
  const lost = createOpenAICompatible({ name: "f", baseURL: "http://nowhere.invalid/v1", apiKey: "k" })("m");
  const agent = createAgent({ model: lost, sleep: () => assert.fail("it waited") });
  t.after(() => agent.close());
  const { end } = await agent.stream({ prompt: "hi" }).result;
  assert.ok(end.kind === "failed" && end.code === "unreachable");
  assert.match(end.message, /no host nowhere\.invalid/);
});

test("a store that fails ends the run as a store's error, with the store's code", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const failing = { ...store, append: () => Promise.reject(new StoreError("unavailable", "the database is away")) };
  const { agent } = agentKit(["hi"], { store: failing });
  const { end, error } = await agent.stream({ threadId: "t", prompt: "hi" }).result;
  assert.deepEqual(end, { kind: "failed", code: "store", message: "the database is away", storeCode: "unavailable" });
  assert.ok(error?.cause instanceof StoreError);
});

/** A model of a server on this machine that answers as told. */
async function modelAt(t: TestContext, answer: (response: ServerResponse) => void, query = "") {
  const server = createServer((request, response) => {
    request.resume();
    answer(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1${query}`;
  return createOpenAICompatible({ name: "fake", baseURL, apiKey: "key" })("fake-1");
}

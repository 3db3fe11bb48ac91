import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { inspect } from "node:util";
import { startProviderServer } from "@palimpsest/testing";
import { generateText, streamText } from "ai";
import { parseConfig } from "../home/config.ts";
import type { ModelsConfig } from "./facts.ts";
import { lightweightModel, ModelError, resolveModel } from "./resolve.ts";

const SECRET = "sk-very-secret-0123456789";
const env = {};

function configOf(models: readonly Record<string, unknown>[]): ModelsConfig {
  const parsed = parseConfig(JSON.stringify({ models }), { env });
  if (parsed.kind === "invalid") throw new Error(parsed.problems.join("\n"));
  return parsed.config;
}

const entry = (fields: Record<string, unknown>) => ({ name: "main", provider: "openai", model: "gpt-5", ...fields });

async function server(t: TestContext) {
  const started = await startProviderServer();
  t.after(() => started.close());
  return started;
}

test("no models at all: the offline one, with the fallback window", async () => {
  const model = await resolveModel(configOf([]), null, { env });
  assert.equal(model.provider, "offline");
  assert.deepEqual(model.window, { tokens: 32_768, source: "fallback" });
  assert.equal(model.fallback, null);
});

test("openai speaks the responses API and stores nothing, whatever the caller says besides", async (t) => {
  const { url, requests } = await server(t);
  const config = configOf([entry({ base_url: `${url}/`, api_key: SECRET, max_output_tokens: 77 })]);
  const { language, window } = await resolveModel(config, "main", { env });
  assert.deepEqual(window, { tokens: 272_000, source: "table" });
  await generateText({ model: language, prompt: "hi", providerOptions: { openai: { user: "u" } } });
  const { protocol, body } = requests[0]!;
  assert.equal(protocol, "openai-responses");
  assert.deepEqual([body!["store"], body!["user"], body!["max_output_tokens"]], [false, "u", 77]);
});

test("anthropic and openai-compatible reach their endpoints", async (t) => {
  const { url, requests } = await server(t);
  const config = configOf([
    entry({ name: "a", provider: "anthropic", model: "claude-sonnet-4-5", base_url: url, api_key: SECRET }),
    entry({ name: "b", provider: "openai-compatible", model: "llama3.1", base_url: url }),
  ]);
  for (const name of ["a", "b"]) {
    const { language } = await resolveModel(config, name, { env });
    const { usage } = await generateText({ model: language, prompt: "hi" });
    assert.equal(usage.inputTokens, requests.at(-1)!.tokens);
  }
  assert.deepEqual(
    requests.map(({ protocol }) => protocol),
    ["anthropic", "openai-chat"],
  );
  const streamed = streamText({ model: (await resolveModel(config, "b", { env })).language, prompt: "hi" });
  assert.equal((await streamed.usage).inputTokens, requests.at(-1)!.tokens);
});

test("google gets its key in a header, not in the address", async () => {
  const seen: { url: string; key: string | null }[] = [];
  const fetch = async (input: string | URL | Request, init?: RequestInit) => {
    seen.push({ url: String(input), key: new Headers(init?.headers).get("x-goog-api-key") });
    const candidates = [{ content: { role: "model", parts: [{ text: "hello" }] }, finishReason: "STOP" }];
    return Response.json({ candidates, usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 } });
  };
  const config = configOf([entry({ provider: "google", model: "gemini-2.5-flash" })]);
  const surroundings = { env: { GOOGLE_GENERATIVE_AI_API_KEY: SECRET }, fetch };
  const { language, window } = await resolveModel(config, "main", surroundings);
  assert.equal((await generateText({ model: language, prompt: "hi" })).text, "hello");
  assert.equal(window.source, "table");
  assert.equal(seen[0]!.key, SECRET);
  assert.doesNotMatch(seen[0]!.url, new RegExp(SECRET));
});

test("a name that isn't there falls back to the default and says which names there are", async () => {
  const config = configOf([entry({ api_key: SECRET }), entry({ name: "other", api_key: SECRET })]);
  const { name, fallback } = await resolveModel(config, "mian", { env });
  assert.equal(name, "main");
  assert.equal(fallback?.asked, "mian");
  assert.match(fallback!.message, /"mian" is not in `models:` \(there: main, other\); "main" stands in/);
});

test("the lightweight model: the one named, the one marked, else the default with thinking off", async (t) => {
  const { url, requests } = await server(t);
  const main = entry({ model: "gpt-5.2", base_url: url, api_key: SECRET, thinking: true });
  const small = entry({ name: "small", base_url: url, api_key: SECRET, lightweight: true });
  assert.equal((await lightweightModel(configOf([main, small]), "main", { env })).name, "main");
  assert.equal((await lightweightModel(configOf([main, small]), null, { env })).name, "small");
  const missing = await lightweightModel(configOf([main, small]), "gone", { env });
  assert.deepEqual([missing.name, missing.fallback?.asked], ["small", "gone"]);

  const quiet = await lightweightModel(configOf([main]), null, { env });
  assert.deepEqual([quiet.name, quiet.thinking], ["main", false]);
  await generateText({ model: quiet.language, prompt: "hi" });
  await generateText({ model: (await resolveModel(configOf([main]), null, { env })).language, prompt: "hi" });
  const efforts = requests.map(({ body }) => (body!["reasoning"] as { effort?: string } | undefined)?.effort);
  assert.deepEqual(efforts, ["none", "medium"]);
});

test("a missing key is said before anything is sent, with the variable to set", async () => {
  for (const [provider, variable] of [
    ["openai", "OPENAI_API_KEY"],
    ["anthropic", "ANTHROPIC_API_KEY"],
    ["google", "GOOGLE_GENERATIVE_AI_API_KEY"],
  ] as const) {
    const asked = resolveModel(configOf([entry({ provider })]), null, { env });
    await assert.rejects(asked, (error) => error instanceof ModelError && error.message.includes(variable));
  }
});

test("an address that is missing or no URL is named without being repeated", async () => {
  const compatible = entry({ provider: "openai-compatible" });
  await assert.rejects(resolveModel(configOf([compatible]), null, { env }), /needs a `base_url`/);
  const broken = configOf([{ ...compatible, base_url: `user:${SECRET}@host` }]);
  await assert.rejects(resolveModel(broken, null, { env }), (error: Error) => {
    assert.match(error.message, /no URL/);
    return !inspect(error).includes(SECRET);
  });
});

test("secrets never show in errors, wherever the provider repeats them", async () => {
  const echo = JSON.stringify({ error: { message: `Incorrect API key provided: ${SECRET}`, code: "invalid_api_key" } });
  const fetch = async () => new Response(echo, { status: 401, headers: { "x-echo": SECRET } });
  const base_url = "http://somebody:hunter2-secret@127.0.0.1:9/v1";
  for (const provider of ["openai", "anthropic", "google", "openai-compatible"]) {
    const config = configOf([entry({ provider, base_url, api_key: SECRET })]);
    const { language, baseUrl } = await resolveModel(config, null, { env, fetch });
    assert.equal(baseUrl, "http://127.0.0.1:9/v1");
    const error = await generateText({ model: language, prompt: "hi", maxRetries: 0 }).catch((e: unknown) => e);
    const shown = `${inspect(error, { depth: 9 })} ${JSON.stringify(error)} ${(error as Error).stack}`;
    assert.match(shown, /401|Incorrect/, provider);
    assert.doesNotMatch(shown, new RegExp(`${SECRET}|hunter2`), provider);
  }
});

test("secrets don't show in the errors of a stream either", async () => {
  const event = `data: ${JSON.stringify({ error: { message: `the key ${SECRET} is spent`, type: "x", code: "y" } })}\n\n`;
  const fetch = async () => new Response(event, { headers: { "content-type": "text/event-stream" } });
  const config = configOf([
    entry({ provider: "openai-compatible", base_url: "http://127.0.0.1:9/v1", api_key: SECRET }),
  ]);
  const { language } = await resolveModel(config, null, { env, fetch });
  const errors: unknown[] = [];
  for await (const part of streamText({ model: language, prompt: "hi", onError: () => {} }).stream) {
    if (part.type === "error") errors.push(part.error);
  }
  assert.match(inspect(errors, { depth: 9 }), /the key \[hidden\] is spent/);
  assert.doesNotMatch(inspect(errors, { depth: 9 }), new RegExp(SECRET));
});

test("a network that is down is an error without the key", async () => {
  const config = configOf([
    entry({ provider: "openai-compatible", base_url: "http://127.0.0.1:9/v1", api_key: SECRET }),
  ]);
  const { language } = await resolveModel(config, null, { env });
  const error = await generateText({ model: language, prompt: "hi", maxRetries: 0 }).catch((e: unknown) => e);
  assert.ok(error instanceof Error);
  assert.doesNotMatch(inspect(error, { depth: 9 }), new RegExp(SECRET));
});

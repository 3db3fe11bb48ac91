import assert from "node:assert/strict";
import { test } from "node:test";
import { redirecting } from "../test/redirecting.ts";
import { createAgent } from "./agent/agent.ts";
import { createClient } from "./client/create-client.ts";
import { directFetch, RedirectedError } from "./direct-fetch.ts";
import { connectionTo } from "./features/mcp/middleware.ts";
import { configSchema } from "./home/schema.ts";
import { configuredEmbedder } from "./models/configured-embedder.ts";
import { resolveModel } from "./models/resolve.ts";

const env = {};

for (const provider of ["openai", "anthropic", "google", "openai-compatible"] as const)
  test(`a model of ${provider} that redirects sends neither words nor key elsewhere, and the error names the address`, async (t) => {
    const { url, elsewhere, stolen } = await redirecting(t);
    const entry = { name: "m", provider, model: "m", base_url: `${url}/v1`, api_key: "operators-key" };
    const { language } = await resolveModel(configSchema.parse({ models: [entry] }), "m", { env });
    const agent = createAgent({ model: language });
    t.after(() => agent.close());
    const { end } = await agent.stream({ prompt: "secret words" }).result;
    assert.deepEqual(end.kind === "failed" && [end.code, end.message.includes(elsewhere)], ["redirected", true]);
    assert.deepEqual(stolen, []);
  });

test("an embedder that redirects sends neither words nor key elsewhere", async (t) => {
  const { url, stolen } = await redirecting(t);
  const embedder = configuredEmbedder(
    { provider: "openai", model: "e", base_url: url, api_key: "operators-key" },
    { env },
  );
  await assert.rejects(async () => embedder.doEmbed({ values: ["secret words"] }), RedirectedError);
  assert.deepEqual(stolen, []);
});

test("an MCP server that redirects, on its own host too, gets nothing at the other address", async (t) => {
  for (const to of ["elsewhere", "itself"] as const) {
    const { url, stolen } = await redirecting(t, to);
    const settings = { url, headers: { authorization: "Bearer mine" }, timeout_seconds: 60 };
    const servers = configSchema.parse({ mcp_servers: { docs: settings } }).mcp_servers;
    await assert.rejects(connectionTo(servers["docs"]!).tools(), /not followed/);
    assert.deepEqual(stolen, []);
  }
});

test("a client of the gateway doesn't send its key after a redirect", async (t) => {
  const { url, stolen } = await redirecting(t);
  const client = createClient({ url, key: "pal_mine" });
  await assert.rejects(client.call("GET /api/threads"), /can't be reached/);
  assert.deepEqual(stolen, []);
});

test("the error names the address without its query and credentials, also where it is relative or missing", async () => {
  const answers = (location: string | null) =>
    directFetch(async () => new Response(null, { status: 307, headers: location === null ? {} : { location } }));
  const rows = [
    ["https://u:p@other.example/v1/chat?key=secret", /redirects \(307\) to https:\/\/other\.example\/v1\/chat, /],
    ["/v2/chat", /redirects \(307\) to https:\/\/api\.example\/v2\/chat, /],
    [null, /redirects \(307\) to no address, /],
    ["http://", /redirects \(307\) to no address, /],
  ] as const;
  for (const [location, message] of rows)
    await assert.rejects(answers(location)("https://api.example/v1/chat"), (error) => {
      assert.ok(error instanceof RedirectedError);
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /secret|u:p/);
      return true;
    });
});

test("what is no redirect passes as it is", async () => {
  for (const status of [200, 304, 404]) {
    const answer = await directFetch(async () => new Response(null, { status }))("https://api.example/");
    assert.equal(answer.status, status);
  }
});

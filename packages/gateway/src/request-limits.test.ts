// What one request and one user may ask for, and what is said about the rest.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { configSchema } from "palimpsest/internal/config";
import { CHAT, MESSAGES } from "../test/asking.ts";
import { codeOf, running, sent } from "../test/running.ts";
import { zip } from "../test/zip.ts";

const JSON_TYPE = { "content-type": "application/json" };

test("JSON that is nested too deep is refused on every way in, and by its first brackets", async (t) => {
  const at = await running(t);
  const body = "[".repeat(4 << 20);
  for (const path of ["/api/threads", CHAT, "/mcp"]) {
    const answer = await sent(at, path, { method: "POST", headers: JSON_TYPE, body });
    assert.deepEqual([answer.status, codeOf(answer)], [400, "too-deep"], path);
  }
});

test("a request with more messages than allowed is refused in the vendor's words, and as many are taken", async (t) => {
  const at = await running(t, { config: "gateway: {request_messages: 3}\n" });
  const ask = (path: string, count: number) => {
    const messages = Array.from({ length: count }, (_, index) => ({
      role: index % 2 === 0 ? "user" : "assistant",
      content: `m${index}`,
    }));
    const body = JSON.stringify({ model: "offline", max_tokens: 10, messages });
    return sent(at, path, { method: "POST", headers: JSON_TYPE, body });
  };
  assert.equal((await ask(CHAT, 3)).status, 200);
  const chat = await ask(CHAT, 5);
  assert.deepEqual([chat.status, codeOf(chat)], [413, "too-many-messages"]);
  const { status, text } = await ask(MESSAGES, 5);
  assert.deepEqual([status, JSON.parse(text).error.type], [413, "request_too_large"]);
});

test("what a user imports in a day has a limit: files before it stay, nothing of the one that passes it is written", async (t) => {
  const at = await running(t, { config: "gateway: {imported_messages_per_day: 5}\n" });
  const lines = (count: number) => `${JSON.stringify({ role: "user", content: "x" })}\n`.repeat(count);
  const headers = { "content-type": "application/jsonl", "x-palimpsest-test": "1" };
  const first = await sent(at, "/api/threads/a/import", { method: "POST", headers, body: lines(4) });
  assert.equal(first.status, 200);
  const response = await fetch(`${at.url}/api/threads/b/import`, {
    method: "POST",
    headers: { "content-type": "application/zip", "x-palimpsest-test": "1" },
    // Files of the same length, so that the second is not taken for more of the first.
    body: new Uint8Array(zip({ "one.jsonl": lines(1), "two.jsonl": lines(1) })),
  });
  const { error } = (await response.json()) as { readonly error: { readonly code: string } };
  assert.deepEqual([response.status, error.code], [429, "import-limit"]);
  const { threads } = await at.home.store.threads();
  assert.deepEqual(threads.map(({ header }) => header.id).toSorted(), ["a", "b-one"]);
});

test("a key has 16 requests at once unless told otherwise", () => {
  assert.equal(configSchema.parse({}).gateway.limits.running, 16);
});

test("a history whose first request failed is found again whole, not written a second time", async (t) => {
  let isDown = true;
  const provider = createServer(async (incoming, outgoing) => {
    for await (const _ of incoming);
    if (isDown) return void outgoing.destroy();
    outgoing.setHeader("content-type", "application/json");
    outgoing.end(
      JSON.stringify({
        id: "c",
        object: "chat.completion",
        choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "fine" } }],
      }),
    );
  });
  provider.listen(0, "127.0.0.1");
  await once(provider, "listening");
  t.after(() => {
    provider.closeAllConnections();
    provider.close();
  });
  const address = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  const model = `{name: gpt, provider: openai-compatible, model: gpt, base_url: "${address}", api_key: k, max_input_tokens: 100000}`;
  const at = await running(t, { config: `models: [${model}]\n` });
  const messages = Array.from({ length: 7 }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `turn ${index}`,
  }));
  const ask = () =>
    sent(at, CHAT, { method: "POST", headers: JSON_TYPE, body: JSON.stringify({ model: "gpt", messages }) });
  assert.equal((await ask()).status, 502);
  isDown = false;
  const again = await ask();
  assert.deepEqual([again.status, again.headers["x-palimpsest-match"]], [200, "extended"]);
  const { threads } = await at.home.store.threads();
  const heads = await Promise.all(threads.map(({ header }) => at.home.store.head(header.id)));
  assert.deepEqual(
    heads.map((head) => head?.messages),
    [8],
  );
});

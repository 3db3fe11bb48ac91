import assert from "node:assert/strict";
import { test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { CHAT, MESSAGES, RESPONSES } from "../../test/asking.ts";
import { beforeProvider } from "../../test/before-provider.ts";
import { codeOf, sent } from "../../test/running.ts";

const OFF = "gateway: {compatible: false}\n";

test("gateway.compatible: false: every path under /v1 answers 404 and says what to switch on, and no provider is asked", async (t) => {
  const served = await beforeProvider(t, { config: OFF });
  for (const [method, path] of [
    ["POST", CHAT],
    ["POST", RESPONSES],
    ["POST", "/v1/responses/input_tokens"],
    ["GET", "/v1/responses/resp_1"],
    ["GET", "/v1/models"],
    ["POST", "/v1/embeddings"],
    ["GET", "/v1/"],
  ] as const) {
    const body = method === "POST" ? JSON.stringify({ model: "gpt", messages: [], input: "hi" }) : undefined;
    const headers = { "content-type": "application/json" };
    const answer = await sent(served, path, { method, headers, ...(body !== undefined && { body }) });
    assert.deepEqual([path, answer.status, codeOf(answer)], [path, 404, "switched-off"]);
    assert.match(JSON.parse(answer.text).error.message, /gateway\.compatible/);
  }
  for (const path of [MESSAGES, `${MESSAGES}/count_tokens`]) {
    const answer = await sent(served, path, { method: "POST", headers: { "content-type": "application/json" } });
    const { type, error } = JSON.parse(answer.text);
    assert.deepEqual([path, answer.status, type, error.type], [path, 404, "error", "not_found_error"]);
    assert.match(error.message, /gateway\.compatible/);
  }
  assert.equal(served.provider.requests.length, 0);
  assert.equal((await sent(served, "/api/threads")).status, 200, "the native API stays");
});

test("gateway.compatible: false: the vendors' clients read it as their own not-found error", async (t) => {
  const { url } = await beforeProvider(t, { config: OFF });
  const openai = new OpenAI({ apiKey: "any", baseURL: `${url}/v1`, maxRetries: 0 });
  await assert.rejects(openai.chat.completions.create({ model: "gpt", messages: [] }), OpenAI.NotFoundError);
  const anthropic = new Anthropic({ apiKey: "any", baseURL: url, maxRetries: 0 });
  const asked = anthropic.messages.create({ model: "claude", max_tokens: 5, messages: [] });
  await assert.rejects(asked, Anthropic.NotFoundError);
});

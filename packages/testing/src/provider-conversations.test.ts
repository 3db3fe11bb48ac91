// Whatever a conversation went through, once repaired it passes through the AI SDK into every protocol.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  aiSdkShape,
  anthropicRules,
  anthropicShape,
  forRequest,
  openaiRules,
  openaiShape,
  repair,
  rulesOf,
  violations,
} from "@palimpsest/core/internal/message";
import { randomConversation, render } from "@palimpsest/testing/internal/shapes";
import { generateText, type ModelMessage } from "ai";
import { startProviderServer } from "./provider-server.ts";

// The SDK says which reasoning it leaves out for whom; that is what it should do.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

const CONVERSATIONS = 25;

test("[F13][F14] random conversations, wrecked and repaired, are taken by every provider", async (t) => {
  const server = await startProviderServer({ record: "verdicts" });
  t.after(() => server.close());
  const { url: baseURL } = server;
  const openai = createOpenAI({ apiKey: "key", baseURL });
  const models = {
    responses: openai("m"),
    chat: openai.chat("m"),
    compatible: createOpenAICompatible({ name: "local", baseURL })("m"),
    anthropic: createAnthropic({ apiKey: "key", baseURL })("m"),
  };
  for (let seed = 1; seed <= CONVERSATIONS; seed += 1) {
    const script = randomConversation(seed, { wild: true, messages: 16, longest: 400 });
    const { messages } = repair(render(script, aiSdkShape), aiSdkShape, forRequest(rulesOf("ai-sdk")));
    const [first] = messages;
    const instructions = first?.role === "system" ? String(first.content) : undefined;
    const rest = (instructions === undefined ? messages : messages.slice(1)) as ModelMessage[];
    for (const [name, model] of Object.entries(models)) {
      await generateText({
        model,
        messages: rest,
        maxRetries: 0,
        maxOutputTokens: 100,
        providerOptions: { openai: { store: false } },
        ...(instructions !== undefined && { instructions }),
      }).catch((error: unknown) => assert.fail(`seed ${seed}, ${name}: ${String(error)}`));
    }
  }
  assert.ok(server.requests.length > 0);
  assert.ok(server.requests.every(({ verdict }) => verdict.kind === "answered"));
});

test("the server refuses exactly what breaks the rules", async (t) => {
  const server = await startProviderServer({ record: "verdicts" });
  t.after(() => server.close());
  const post = async (path: string, body: unknown) => {
    const headers = { "anthropic-version": "2023-06-01" };
    const response = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    await response.text();
    return response.status;
  };
  const seen = new Set<number>();
  for (let seed = 1; seed <= 4 * CONVERSATIONS; seed += 1) {
    const script = randomConversation(seed, { wild: seed % 2 === 0, messages: 8, longest: 200 });
    const chat = render(script, openaiShape);
    const broken = violations(chat, openaiShape, forRequest(openaiRules)).length > 0;
    const status = await post("/chat/completions", { model: "m", messages: chat });
    assert.equal(status, broken ? 400 : 200, `openai, seed ${seed}`);

    const claude = render(script, anthropicShape).filter(({ role }) => role !== "system");
    const bad = violations(claude, anthropicShape, forRequest(anthropicRules)).length > 0;
    const answer = await post("/messages", { model: "m", max_tokens: 9, messages: claude });
    assert.equal(answer, bad ? 400 : 200, `anthropic, seed ${seed}`);
    seen.add(status).add(answer);
  }
  assert.deepEqual([...seen].sort(), [200, 400]);
});

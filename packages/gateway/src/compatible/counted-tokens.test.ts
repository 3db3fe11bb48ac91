// Whatever way a request takes to the provider, its tokens count for its key.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CHAT, MESSAGES, RESPONSES } from "../../test/asking.ts";
import { type Answer, type Noted, noting } from "../../test/http-server.ts";
import { type Keyed, type KeyedRequest, keyed } from "../../test/keyed.ts";

/** Each answer is 105 tokens and the limit 300: the fourth request is refused, and so is every later one. */
const LIMITED = "limits: {tokens_per_minute: 300}, pass_through: all";

/** Requests that are sent before the first one is answered. */
const AT_ONCE = 12;

const CHAT_USAGE = { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105 };
const USAGE = { input_tokens: 100, output_tokens: 5, total_tokens: 105 };

const messages = [{ role: "user", content: "hi" }];
const off = { "x-palimpsest-mode": "off" };
const observe = { "x-palimpsest-mode": "observe" };
const WAYS: readonly (readonly [string, string, KeyedRequest])[] = [
  ["kept", CHAT, { body: { model: "oa", messages } }],
  ["observed", CHAT, { body: { model: "oa", messages }, headers: observe }],
  ["mode off", CHAT, { body: { model: "oa", messages }, headers: off }],
  ["mode off, a stream", CHAT, { body: { model: "oa", messages, stream: true }, headers: off }],
  ["a trailing slash", `${CHAT}/`, { body: { model: "oa", messages } }],
  ["refused by our reading, passed on", CHAT, { body: { model: "oa", messages: [{ role: "odd" }] } }],
  ["Anthropic, mode off, a stream", MESSAGES, { body: { model: "claude", messages, stream: true }, headers: off }],
  ["Responses, mode off, a stream", RESPONSES, { body: { model: "oa", input: "hi", stream: true }, headers: off }],
  ["Responses with what only the vendor holds", RESPONSES, { body: { model: "oa", input: "hi", prompt: { id: "p" } } }],
  ["converted, mode off", MESSAGES, { body: { model: "oa", max_tokens: 9, messages }, headers: off }],
  ["old completions", "/v1/completions", { body: { model: "oa", prompt: "hi" } }],
  ["embeddings", "/v1/embeddings", { body: { model: "oa", input: "hi" } }],
];

test("the limit of tokens holds on every way", async (t) => {
  for (const [title, path, request] of WAYS) {
    const { ask } = await limited(t);
    assert.deepEqual(await statuses(ask, path, request, 5), [200, 200, 200, 429, 429], title);
  }
});

test("requests at once don't get past the limit together, on any way, and what they held is free when they have ended", async (t) => {
  for (const [title, path, request] of WAYS) {
    const gate = Promise.withResolvers<void>();
    let decided = 0;
    const decide = (): void => {
      decided += 1;
      if (decided === AT_ONCE) gate.resolve();
    };
    const { ask, seen } = await limited(t, "all", () => {
      decide();
      return gate.promise;
    });
    const asked = Array.from({ length: AT_ONCE }, async () => {
      const { status } = await ask("bob", "POST", path, request);
      if (status === 429) decide();
      return status;
    });
    const answers = await Promise.all(asked);
    assert.equal(seen.length, 1, `${title}: ${answers}`);
    assert.equal(answers.filter((status) => status === 200).length, 1, title);
    assert.deepEqual(await statuses(ask, path, request, 3), [200, 200, 429], title);
  }
});

test("what a running request holds keeps other work with models waiting, and nothing else", async (t) => {
  const gate = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const { ask } = await limited(t, "all", () => {
    arrived.resolve();
    return gate.promise;
  });
  const [, path, request] = WAYS[0]!;
  const running = ask("bob", "POST", path, request);
  await arrived.promise;
  assert.equal((await ask("bob", "POST", "/api/threads", { body: { id: "t" } })).status, 201);
  for (const spending of ["/api/threads/t/runs", "/api/threads/t/compact", "/api/chat"])
    assert.equal((await ask("bob", "POST", spending, { body: {} })).status, 429, spending);
  gate.resolve();
  assert.equal((await running).status, 200);
});

test("an answer that reports no tokens is counted by its length", async (t) => {
  const messages = [{ role: "user", content: "hi ".repeat(400) }];
  for (const mode of ["on", "off"]) {
    const { ask } = await limited(t, "none");
    const headers = { "x-palimpsest-mode": mode };
    const request = { body: { model: "oa", messages, stream: true }, headers };
    assert.deepEqual(await statuses(ask, CHAT, request, 3), [200, 429, 429], mode);
  }
});

test("pictures, recordings and embeddings that report no tokens are counted by an estimate", async (t) => {
  const form = new FormData();
  form.set("model", "oa");
  form.set("file", new Blob(["sound"]), "a.wav");
  const written = new Response(form);
  const recording = {
    headers: { "content-type": written.headers.get("content-type")! },
    body: Buffer.from(await written.arrayBuffer()),
  };
  const ways: readonly (readonly [string, KeyedRequest])[] = [
    ["/v1/images/generations", { body: { model: "oa", prompt: "a cat" } }],
    ["/v1/audio/transcriptions", recording],
    ["/v1/audio/speech", { body: { model: "oa", input: "word ".repeat(300) } }],
    ["/v1/embeddings", { body: { model: "oa", input: "word ".repeat(300) } }],
    ["/v1/moderations", { body: { model: "oa", input: "word ".repeat(300) } }],
  ];
  for (const [path, request] of ways) {
    const { ask } = await limited(t, "none");
    assert.deepEqual(await statuses(ask, path, request, 2), [200, 429], path);
  }
});

async function statuses(ask: Keyed["ask"], path: string, request: KeyedRequest, count: number): Promise<number[]> {
  const all: number[] = [];
  for (let round = 0; round < count; round += 1) all.push((await ask("bob", "POST", path, request)).status);
  return all;
}

/** No time passes, so that nothing comes back. */
async function limited(t: TestContext, reports: "all" | "none" = "all", asked = async () => {}) {
  const { url, seen } = await noting(t, async (noted) => {
    await asked();
    return answerTo(noted, reports);
  });
  const entry = (name: string, provider: string) =>
    `  - {name: ${name}, provider: ${provider}, model: ${name}, base_url: "${url}/v1", api_key: operators}\n`;
  const config = `models:\n${entry("oa", "openai")}${entry("claude", "anthropic")}gateway: {${LIMITED}}\n`;
  const now = new Date("2026-11-18T00:00:00Z");
  return { ...(await keyed(t, { config, clock: () => now })), seen };
}

function answerTo({ url, body }: Noted, reports: "all" | "none"): Answer {
  const { stream = false } = JSON.parse(body.startsWith("{") ? body : "{}") as { readonly stream?: boolean };
  const [whole, events] = url.includes("/messages")
    ? anthropic()
    : url.includes("/responses")
      ? responses()
      : chat(reports);
  if (!stream) return { body: JSON.stringify(whole) };
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return { headers: { "content-type": "text/event-stream" }, body: `${text}data: [DONE]\n\n` };
}

type Spoken = readonly [whole: object, events: readonly object[]];

function chat(reports: "all" | "none"): Spoken {
  const base = { id: "c", object: "chat.completion", created: 1, model: "m" };
  const usage = reports === "all" ? { usage: CHAT_USAGE } : {};
  const message = { role: "assistant", content: "ok" };
  const choice = (delta: object, finish_reason: string | null) => ({ choices: [{ index: 0, delta, finish_reason }] });
  return [
    { ...base, choices: [{ index: 0, message, finish_reason: "stop" }], data: [], ...usage },
    [
      { ...base, ...choice(message, null) },
      { ...base, ...choice({}, "stop"), ...usage },
    ],
  ];
}

function responses(): Spoken {
  const item = {
    type: "message",
    id: "m",
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text: "ok", annotations: [] }],
  };
  const response = {
    id: "r",
    object: "response",
    created_at: 1,
    status: "completed",
    model: "m",
    output: [item],
    usage: USAGE,
  };
  return [response, [{ type: "response.completed", sequence_number: 0, response }]];
}

function anthropic(): Spoken {
  const message = { id: "m", type: "message", role: "assistant", model: "m", content: [], stop_reason: "end_turn" };
  return [
    { ...message, usage: { input_tokens: 100, output_tokens: 5 } },
    [
      {
        type: "message_start",
        message: { ...message, stop_reason: null, usage: { input_tokens: 100, output_tokens: 1 } },
      },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } },
      { type: "message_stop" },
    ],
  ];
}

// A client that waits while a summary is written: it hears so, and what goes wrong later is said in the stream.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTick } from "node:timers/promises";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { CHAT, MESSAGES, type Message, RESPONSES, talk, user } from "../../test/asking.ts";
import { beforeProvider } from "../../test/before-provider.ts";
import { ManualTime } from "../../test/manual-time.ts";
import { type Upstream, upstream } from "../../test/upstream.ts";

const respond = ({ index }: { readonly index: number }) => `Answer ${index}: ${"seven fathoms. ".repeat(12)}`;

interface Waiting {
  readonly url: string;
  readonly messages: readonly Message[];
  readonly time: ManualTime;
  readonly summarizer: Upstream;
}

/** A conversation whose next request waits for its summary, which is written when the test says so. */
async function waiting(t: TestContext, path: string, more: { readonly fails?: "yes" } = {}): Promise<Waiting> {
  const summarizer = await upstream(t);
  const time = new ManualTime();
  const entry = summarizer.config.split("\n").find((line) => line.includes("name: small"))!;
  const { url } = await beforeProvider(t, {
    stated: 4000,
    respond,
    faults: ({ index }) => (more.fails === "yes" && index >= 11 ? { kind: "rate-limit" } : undefined),
    running: { after: time.after },
    config: `${entry}\nsummarization: {model_name: small, drafts: false, trigger: [{type: fraction, value: 0.8}]}\n`,
  });
  const { messages } = await talk(url, 11, { path });
  return { url, messages, time, summarizer };
}

const QUESTION = user(`The last one: ${"how deep is it there? ".repeat(40)}`);

/** Until the head is there nothing else can come, so that waiting for it is waiting for the comment. */
async function begun({ url, messages, time, summarizer }: Waiting, path: string, field = "messages") {
  const model = path === MESSAGES ? "claude" : "gpt";
  const body = { model, stream: true, max_tokens: 500, [field]: [...messages, QUESTION] };
  const { max_tokens, ...rest } = body;
  const response = fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body: JSON.stringify(path === RESPONSES ? rest : { ...rest, max_tokens }),
  });
  const asked = await summarizer.next();
  await time.pass(10_000);
  const { status, headers, body: stream } = await response;
  const reader = stream!.pipeThrough(new TextDecoderStream()).getReader();
  const first = await reader.read();
  const finish = async (): Promise<string> => {
    let text = "";
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) text += piece.value;
    return text;
  };
  return {
    status,
    type: headers.get("content-type"),
    thread: headers.get("x-palimpsest-thread"),
    first,
    asked,
    finish,
  };
}

for (const [path, field, ends] of [
  [CHAT, "messages", /\[DONE\]/],
  [MESSAGES, "messages", /message_stop/],
  [RESPONSES, "input", /response\.completed/],
] as const)
  test(`${path}: after ten seconds a waiting client gets 200 and a comment, then the answer`, async (t) => {
    const at = await waiting(t, path);
    const { status, type, thread, first, asked, finish } = await begun(at, path, field);
    assert.deepEqual([status, type], [200, "text/event-stream"]);
    assert.ok(thread);
    assert.match(String(first.value), /^: /);
    void sumUp(asked, at.summarizer);
    assert.match(await finish(), ends);
    assert.equal(at.time.waiting, 0, "nothing is left to be told");
  });

test("what is refused after the comment is said in the stream, as each vendor's client reads it", async (t) => {
  const chat = await waiting(t, CHAT, { fails: "yes" });
  const openai = new OpenAI({ apiKey: "any", baseURL: `${chat.url}/v1`, maxRetries: 0 });
  const heard = openai.chat.completions
    .stream({ model: "gpt", messages: [...chat.messages, QUESTION] as never })
    .finalMessage()
    .catch((error: unknown) => error);
  await refuseLater(chat);
  assert.ok((await heard) instanceof OpenAI.APIError, String(await heard));
  assert.match(String(await heard), /rate limit/i);
  const own = await waiting(t, MESSAGES, { fails: "yes" });
  const anthropic = new Anthropic({ apiKey: "any", baseURL: own.url, maxRetries: 0 });
  const told = anthropic.messages
    .stream({ model: "claude", max_tokens: 500, messages: [...own.messages, QUESTION] as never })
    .finalMessage()
    .catch((error: unknown) => error);
  await refuseLater(own);
  assert.ok((await told) instanceof Anthropic.APIError, String(await told));
});

async function refuseLater({ summarizer, time }: Waiting): Promise<void> {
  const asked = await summarizer.next();
  await time.pass(10_000);
  await nextTick();
  void sumUp(asked, summarizer);
}

/** Also when it is asked again, since this is no summary that can be used. */
async function sumUp(asked: Awaited<ReturnType<Upstream["next"]>>, summarizer: Upstream): Promise<void> {
  for (let one = asked; ; one = await summarizer.next()) {
    one.say("Goal: sound the harbor.");
    one.end();
  }
}

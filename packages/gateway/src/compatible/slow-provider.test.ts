import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { replay } from "palimpsest/internal/threads";
import { verify } from "palimpsest/session";
import { CHAT, MESSAGES, RESPONSES, user } from "../../test/asking.ts";
import { ManualTime } from "../../test/manual-time.ts";
import { running } from "../../test/running.ts";

const HOUR = 3_600_000;

/** A provider that is silent until the test speaks for it. */
async function silent(t: TestContext) {
  const calls: ((outgoing: ServerResponse) => void)[] = [];
  const server = createServer(async (incoming, outgoing) => {
    for await (const _ of incoming);
    calls.shift()?.(outgoing);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const entry = (name: string, provider: string) =>
    `  - {name: ${name}, provider: ${provider}, model: ${name}, base_url: "${base}", api_key: k}\n`;
  const time = new ManualTime();
  const models = `models:\n${entry("gpt", "openai")}${entry("claude", "anthropic")}`;
  const config = `${models}gateway: {answer_idle_seconds: null}\n`;
  const served = await running(t, { config, after: time.after, clock: time.clock });
  return { served, time, called: () => new Promise<ServerResponse>((resolve) => calls.push(resolve)) };
}

const chat = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const part = { type: "output_text", text: "seven fathoms", annotations: [] };
const item = { id: "msg_1", type: "message", role: "assistant", status: "completed", content: [part] };
const response = { id: "resp_1", object: "response", model: "gpt" };

const STREAMS = {
  [CHAT]: [
    chat({ role: "assistant", content: "seven " }),
    chat({ content: "fathoms" }),
    `${chat({}, "stop")}data: [DONE]\n\n`,
  ],
  [MESSAGES]: [
    event("message_start", { message: { id: "m", role: "assistant", content: [], usage: { input_tokens: 3 } } }) +
      event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    event("content_block_delta", { index: 0, delta: { type: "text_delta", text: "seven fathoms" } }),
    event("content_block_stop", { index: 0 }) +
      event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }) +
      event("message_stop", {}),
  ],
  [RESPONSES]: [
    event("response.created", { response: { ...response, status: "in_progress", output: [] } }),
    event("response.output_item.done", { output_index: 0, item }),
    event("response.completed", { response: { ...response, status: "completed", output: [item] } }),
  ],
} as const;

function ask(url: string, path: string, stream: boolean): Promise<Response> {
  const asked = [user("How deep is it?")];
  const body = path === RESPONSES ? { input: asked, store: false } : { messages: asked, max_tokens: 50 };
  return fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ model: path === MESSAGES ? "claude" : "gpt", stream, ...body }),
  });
}

for (const [path, pieces] of Object.entries(STREAMS))
  test(`${path}: where streams have no limit, a provider that is hours late and pauses for hours is waited for, and heard byte for byte`, async (t) => {
    const { served, time, called } = await silent(t);
    const call = called();
    const answer = ask(served.url, path, true);
    const outgoing = await call;
    await time.pass(HOUR);
    outgoing.writeHead(200, { "content-type": "text/event-stream" });
    outgoing.flushHeaders();
    await time.pass(HOUR);
    let said = "";
    let heard = "";
    let reader: ReadableStreamDefaultReader<string> | null = null;
    for (const piece of pieces) {
      said += piece;
      if (piece === pieces.at(-1)) outgoing.end(piece);
      else outgoing.write(piece);
      reader ??= (await answer).body!.pipeThrough(new TextDecoderStream()).getReader();
      while (heard.length < said.length) {
        const { value, done } = await reader.read();
        assert.ok(!done, "it ends when the provider does");
        heard += value;
      }
      await time.pass(HOUR);
    }
    assert.equal(heard, said);
    assert.equal((await reader!.read()).done, true);
    const { status, headers } = await answer;
    assert.deepEqual([status, headers.get("x-palimpsest-match")], [200, "new"]);
    const threadId = headers.get("x-palimpsest-thread")!;
    assert.equal((await verify(served.home, threadId)).kind, "whole");
    const bodies: string[] = [];
    for await (const { body } of replay(served.home, threadId)) bodies.push(body);
    assert.equal(bodies.length, 2);
    assert.match(bodies[1]!, /seven fathoms/);
  });

test("an answer that comes as a whole, late and in two parts, is waited for", async (t) => {
  const { served, time, called } = await silent(t);
  const call = called();
  const answer = ask(served.url, CHAT, false);
  const outgoing = await call;
  await time.pass(HOUR);
  const message = { role: "assistant", content: "seven fathoms" };
  const text = JSON.stringify({ id: "c", choices: [{ index: 0, message, finish_reason: "stop" }] });
  outgoing.writeHead(200, { "content-type": "application/json" });
  outgoing.write(text.slice(0, 20));
  await time.pass(HOUR);
  outgoing.end(text.slice(20));
  assert.equal(await (await answer).text(), text);
  const { threads } = await served.home.store.threads();
  assert.deepEqual(
    threads.map(({ messages }) => messages),
    [2],
  );
});

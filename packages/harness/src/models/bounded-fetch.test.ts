import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createAgent } from "../agent/agent.ts";
import { boundedFetch, ResponseTooLarge } from "./wrap.ts";

const limits = { lineBytes: 1_000, bodyBytes: 2_000 };
const fetch = boundedFetch(undefined, limits);
const EVENTS = { "content-type": "text/event-stream" };

test("a line of a stream that never ends isn't read any further, and the connection is closed", async (t) => {
  const closed = Promise.withResolvers<void>();
  const url = await serve(t, (response) => {
    response.writeHead(200, EVENTS);
    response.on("close", closed.resolve);
    const more = (): void => {
      if (!response.destroyed) response.write("x".repeat(300), () => setImmediate(more));
    };
    more();
  });
  const response = await fetch(url);
  await assert.rejects(response.text(), ResponseTooLarge);
  await closed.promise;
});

test("a stream may be as long as it likes while its lines end, wherever they are cut on the way", async (t) => {
  const lines = Array.from({ length: 50 }, (_, at) => `data: ${"y".repeat(at * 19)}\n`).join("");
  const url = await serve(t, async (response) => {
    response.writeHead(200, EVENTS);
    for (let at = 0; at < lines.length; at += 777) {
      response.write(lines.slice(at, at + 777));
      await new Promise(setImmediate);
    }
    response.end();
  });
  const response = await fetch(url);
  assert.equal(await response.text(), lines);
});

test("a whole body has a limit as well, and keeps status and headers below it", async (t) => {
  const url = await serve(t, (response, path) => {
    response.writeHead(418, { "content-type": "application/json", "x-own": "yes" });
    response.end("z".repeat(path === "/long" ? 2_001 : 2_000));
  });
  const short = await fetch(url);
  assert.deepEqual([short.status, short.headers.get("x-own"), (await short.text()).length], [418, "yes", 2_000]);
  await assert.rejects((await fetch(`${url}/long`)).text(), ResponseTooLarge);
});

test("a run ends as an answer that is too long", async (t) => {
  const url = await serve(t, (response) => {
    response.writeHead(200, EVENTS);
    response.write(`data: {"choices":[{"delta":{"content":"${"w".repeat(3_000)}`);
  });
  const model = createOpenAICompatible({ name: "fake", baseURL: url, apiKey: "key", fetch })("fake");
  const agent = createAgent({ model });
  t.after(() => agent.close());
  const { end } = await agent.stream({ prompt: "hi" }).result;
  assert.equal(end.kind === "failed" && end.code, "answer-too-long");
});

async function serve(t: TestContext, answer: (response: ServerResponse, path: string) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    answer(response, request.url ?? "");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

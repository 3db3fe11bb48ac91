// A client that leaves in the middle is no failure of ours: 499 in the log and the metrics, without a stack.
import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { ManualTime } from "../../test/manual-time.ts";
import { running } from "../../test/running.ts";
import { upstream } from "../../test/upstream.ts";
import type { LogLine, RequestLine } from "./log.ts";

async function place(t: TestContext) {
  const provider = await upstream(t);
  const time = new ManualTime();
  const next = Promise.withResolvers<RequestLine>();
  const log = (line: LogLine) => {
    if ("request" in line) next.resolve(line);
  };
  const at = await running(t, { config: provider.config, log, after: time.after });
  return { ...at, provider, time, line: next.promise };
}

function outcome({ status, level, code, error }: RequestLine) {
  return { status, level, code, error };
}

const LEFT = { status: 499, level: "info", code: "client-left", error: undefined };

test("one that leaves while its request is passed on", async (t) => {
  const at = await place(t);
  const asking = request(`${at.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-palimpsest-mode": "off" },
  });
  asking.on("error", () => {});
  asking.end(JSON.stringify({ model: "small", messages: [{ role: "user", content: "one" }] }));
  await at.provider.next();
  asking.destroy();
  assert.deepEqual(outcome(await at.line), LEFT);
});

test("one that leaves before the first word of an answer, when no client has come back for it", async (t) => {
  const at = await place(t);
  const asking = request(`${at.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
  });
  asking.on("error", () => {});
  asking.end(JSON.stringify({ model: "small", messages: [{ role: "user", content: "one" }] }));
  const told = await at.provider.next();
  asking.destroy();
  while (at.time.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
  const closed = told.closed;
  for (let i = 0; i < 3; i += 1) await at.time.pass(5_000);
  await closed;
  assert.deepEqual(outcome(await at.line), { ...LEFT, code: undefined });
});

for (const path of ["/api/threads/t/import", "/v1/chat/completions"])
  test(`one that leaves in the middle of the body of ${path}`, async (t) => {
    const at = await place(t);
    const socket = connect(at.port, "127.0.0.1");
    await once(socket, "connect");
    const head = [`POST ${path} HTTP/1.1`, "host: 127.0.0.1", "content-type: application/json", "content-length: 1000"];
    socket.write(`${head.join("\r\n")}\r\n\r\n{"half":`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    assert.deepEqual(outcome(await at.line), LEFT);
  });

test("one that leaves while what it sent is imported", async (t) => {
  const at = await place(t);
  const { store } = at.home;
  const asking = request(`${at.url}/api/threads/t/import`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson" },
  });
  asking.on("error", () => {});
  asking.end('{"role":"user","content":"one of many lines"}\n'.repeat(40_000));
  while ((await store.threads({ limit: 5 })).threads.length === 0)
    await new Promise((resolve) => setImmediate(resolve));
  asking.destroy();
  assert.deepEqual(outcome(await at.line), LEFT);
});

test("one that leaves while its long history is written; the rest is not, and the same request goes on there", async (t) => {
  const at = await place(t);
  const { store } = at.home;
  const messages = Array.from({ length: 12_001 }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `message ${index}`,
  }));
  const body = JSON.stringify({ model: "small", messages });
  const asking = request(`${at.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
  });
  asking.on("error", () => {});
  asking.end(body);
  const written = async (): Promise<number> => (await store.threads({ limit: 5 })).threads[0]?.messages ?? 0;
  while ((await written()) === 0) await new Promise((resolve) => setImmediate(resolve));
  asking.destroy();
  assert.deepEqual(outcome(await at.line), LEFT);
  const kept = await written();
  assert.ok(kept > 0 && kept < messages.length, `${kept} of ${messages.length}`);
  const again = fetch(`${at.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  const told = await at.provider.next();
  told.say("done");
  told.end();
  assert.equal((await again).status, 200);
  assert.equal((await store.threads({ limit: 5 })).threads.length, 1);
  assert.equal(await written(), messages.length + 1);
});

// Clients that are slow or leave half-way, on the real server: other clients don't notice them.
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { running, sent } from "../../test/running.ts";
import { LIMITS, listen } from "./listen.ts";

function open(t: TestContext, port: number): Socket {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  t.after(() => socket.destroy());
  return socket;
}

async function everything(socket: Socket): Promise<string> {
  let text = "";
  for await (const piece of socket.setEncoding("utf8")) text += piece;
  return text;
}

test("a client that sends its headers a byte at a time is cut off with a 408, and others are answered meanwhile", async (t) => {
  const limits = { ...LIMITS, headersTimeout: 200, connectionsCheckingInterval: 50 };
  const server = await listen(() => Response.json({ ok: true }), { host: "127.0.0.1", port: 0, limits });
  t.after(() => server.close(0));
  const slow = open(t, server.port);
  slow.write("GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n");
  const drip = setInterval(() => slow.write("x"), 20);
  t.after(() => clearInterval(drip));
  slow.on("error", () => {});
  // On a busy machine the limit may cut off any client: it is enough that one is answered.
  while ((await fetch(server.url).catch(() => null))?.status !== 200);
  assert.match(await everything(slow), /^HTTP\/1\.1 408 /);
});

test("a body that never comes is cut off as well", async (t) => {
  const limits = { ...LIMITS, headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 50 };
  const server = await listen(async (request) => Response.json(await request.text()), {
    host: "127.0.0.1",
    port: 0,
    limits,
  });
  t.after(() => server.close(0));
  const slow = open(t, server.port);
  slow.on("error", () => {});
  slow.write("POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n\r\n{");
  assert.match(await everything(slow), /^HTTP\/1\.1 4/);
});

test("one that says it has nothing more to say is still answered; one that leaves half a body has changed nothing", async (t) => {
  const at = await running(t);
  const half = open(t, at.port);
  half.end(`GET /healthz HTTP/1.1\r\nhost: 127.0.0.1:${at.port}\r\nconnection: close\r\n\r\n`);
  assert.match(await everything(half), /^HTTP\/1\.1 200 [\s\S]*\{"ok":true\}$/);
  const body = '{"id": "t"}';
  const leaving = open(t, at.port);
  leaving.end(
    `POST /api/threads HTTP/1.1\r\nhost: 127.0.0.1:${at.port}\r\ncontent-type: application/json\r\ncontent-length: ${body.length + 1}\r\n\r\n${body}`,
  );
  await everything(leaving).catch(() => {});
  assert.equal(await at.home.store.header("t"), undefined);
  assert.equal((await sent(at, "/healthz")).status, 200);
});

test("two requests in one, and lengths that contradict each other, are refused", async (t) => {
  const at = await running(t);
  const head = `POST /api/threads HTTP/1.1\r\nhost: 127.0.0.1:${at.port}\r\ncontent-type: application/json\r\n`;
  for (const [lengths, rest] of [
    ["content-length: 2\r\ncontent-length: 11\r\n", '{"id": "t"}'],
    ["content-length: 5\r\ntransfer-encoding: chunked\r\n", "0\r\n\r\nGET /api/threads HTTP/1.1\r\n\r\n"],
    ["transfer-encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n"],
    ["transfer-encoding: gzip\r\n", "{}"],
  ]) {
    const socket = open(t, at.port);
    socket.on("error", () => {});
    socket.end(`${head}${lengths}\r\n${rest}`);
    const answer = await everything(socket).catch(() => "");
    assert.match(answer, /^(?:HTTP\/1\.1 400 [\s\S]*)?$/, lengths);
  }
  assert.equal(await at.home.store.header("t"), undefined);
});

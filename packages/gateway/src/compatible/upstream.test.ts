// The connection to a provider.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { UpstreamError } from "./passage.ts";
import { askUpstream } from "./upstream.ts";

const bounds = { bytes: 1_000_000, idleMs: null, after: () => () => {} };

/** A provider that breaks the connection at some of its requests, and how one asks it. */
async function provider(t: TestContext, breaksAt: (request: number) => boolean) {
  let requests = 0;
  const server = createServer(async (incoming, outgoing) => {
    for await (const _ of incoming);
    requests += 1;
    if (breaksAt(requests)) incoming.socket.resetAndDestroy();
    else outgoing.end("ok");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  return {
    requests: () => requests,
    async ask(): Promise<string> {
      const { signal } = new AbortController();
      const { body } = await askUpstream({ method: "POST", url, headers: {}, body: Buffer.from("?"), signal, bounds });
      let text = "";
      for await (const bytes of body) text += String(bytes);
      return text;
    },
  };
}

test("a request on a kept connection that the provider has given up is sent again on a new one", async (t) => {
  const { ask, requests } = await provider(t, (request) => request === 2);
  assert.deepEqual([await ask(), await ask(), requests()], ["ok", "ok", 3]);
});

test("a new connection that breaks is told at once, and not tried again", async (t) => {
  const { ask, requests } = await provider(t, () => true);
  await assert.rejects(ask(), (error) => error instanceof UpstreamError && /ECONNRESET/.test(error.message));
  assert.equal(requests(), 1);
});

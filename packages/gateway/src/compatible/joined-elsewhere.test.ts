// Two gateways on one PostgreSQL: a client that lost its connection to one asks the other for the same.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { ManualTime } from "../../test/manual-time.ts";
import { running } from "../../test/running.ts";

const BODY = JSON.stringify({ model: "gpt", stream: true, messages: [{ role: "user", content: "one" }] });

test("a retry on another gateway gets the answer that is under way, from one call of the provider", async (t) => {
  const server = await startPostgres();
  const asked: ServerResponse[] = [];
  const provider = createServer((incoming, outgoing) => {
    incoming.resume();
    outgoing.writeHead(200, { "content-type": "text/event-stream" });
    outgoing.write(chunk({ role: "assistant", content: "first " }));
    asked.push(outgoing);
  });
  provider.listen(0, "127.0.0.1");
  await once(provider, "listening");
  const base = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  const config = `models:\n  - {name: gpt, provider: openai, model: gpt, base_url: "${base}", api_key: k}\nstore: {url: "${server.url()}"}\n`;
  // No client's time to come back runs out, however long the other one takes.
  const { after } = new ManualTime();
  const [one, two] = [await running(t, { config, after }), await running(t, { config })];
  t.after(async () => {
    provider.closeAllConnections();
    provider.close();
    await server.stop();
  });
  const first = sending(one.port);
  const [incoming] = (await once(first, "response")) as [IncomingMessage];
  await once(incoming, "data");
  first.destroy();
  const users = one.home.store.shared!.runs;
  while ((await users.find({ threadId: String(incoming.headers["x-palimpsest-thread"]) })) === undefined)
    await pause(10);
  const second = sending(two.port, { "x-stainless-retry-count": "1" });
  const [again] = (await once(second, "response")) as [IncomingMessage];
  assert.equal(again.headers["x-palimpsest-match"], "joined");
  assert.equal(again.headers["x-palimpsest-thread"], incoming.headers["x-palimpsest-thread"]);
  asked[0]!.end(`${chunk({ content: "second" }, "stop")}data: [DONE]\n\n`);
  let heard = "";
  for await (const piece of again) heard += piece;
  assert.match(heard, /first .*second.*\[DONE\]/s);
  assert.equal(asked.length, 1);
});

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

function sending(port: number, headers: Record<string, string> = {}) {
  const length = String(Buffer.byteLength(BODY));
  const given = { "content-type": "application/json", "content-length": length, ...headers };
  const outgoing = request({ host: "127.0.0.1", port, path: "/v1/chat/completions", method: "POST", headers: given });
  outgoing.on("error", () => {});
  outgoing.end(BODY);
  return outgoing;
}

// What a gateway that shuts down still answers, and when its end is over.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { type TestContext, test } from "node:test";
import { refusalOf } from "../../test/events.ts";
import { running } from "../../test/running.ts";
import { upstream } from "../../test/upstream.ts";

/** A grace that no test can wait for: what waits for it fails. */
const LONG = "gateway: { shutdown_grace_seconds: 3600 }\n";

async function place(t: TestContext, more = LONG) {
  const provider = await upstream(t);
  const at = await running(t, { config: provider.config + more });
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const body = { model: "small", stream: true, messages: [{ role: "user", content: "Tell me." }] };
  return {
    ...at,
    provider,
    post: (path: string, given: object = body) =>
      fetch(at.url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(given),
      }),
    /** On a connection that the client keeps open behind the answer. */
    async keptOpen(): Promise<IncomingMessage> {
      const asking = request(`${at.url}/v1/chat/completions`, {
        method: "POST",
        agent,
        headers: { "content-type": "application/json" },
      });
      asking.end(JSON.stringify(body));
      const [incoming] = (await once(asking, "response")) as [IncomingMessage];
      return incoming;
    },
  };
}

test("while a stream of /v1 is under way, /readyz is 503 and new work is refused with 503; the stream ends whole", async (t) => {
  const at = await place(t);
  const asked = at.post("/v1/chat/completions");
  const told = await at.provider.next();
  told.say("Once");
  const response = await asked;
  const closed = at.gateway.close();
  const readyz = await fetch(`${at.url}/readyz`);
  assert.deepEqual([readyz.status, readyz.headers.get("connection")], [503, "close"]);
  assert.equal((await fetch(`${at.url}/healthz`)).status, 200);
  assert.equal((await at.post("/v1/chat/completions")).status, 503);
  assert.equal(await refusalOf(await at.post("/api/threads", { id: "t" })), "503 closing");
  assert.equal(await refusalOf(await fetch(`${at.url}/api/threads`)), "503 closing");
  told.say(" upon a time.");
  told.end();
  assert.match(await response.text(), /upon a time.*\[DONE\]/s);
  await closed;
  await assert.rejects(fetch(`${at.url}/readyz`));
});

test("a client that keeps its connection does not hold the end up: it is closed behind the last answer", async (t) => {
  const at = await place(t);
  const asked = at.keptOpen();
  const told = await at.provider.next();
  told.say("Once");
  const incoming = await asked;
  const { socket } = incoming;
  const gone = once(socket, "close");
  const closed = at.gateway.close();
  told.end();
  let text = "";
  for await (const piece of incoming.setEncoding("utf8")) text += piece;
  assert.match(text, /\[DONE\]/);
  await closed;
  await gone;
});

test("what has not ended when the grace is over is cut off, and what it said so far is kept as aborted", async (t) => {
  const at = await place(t, "gateway: { shutdown_grace_seconds: 0.1 }\n");
  const asked = at.post("/v1/chat/completions");
  const told = await at.provider.next();
  told.say("Once");
  const response = await asked;
  await at.gateway.close();
  await assert.rejects(response.text());
  await told.closed;
  const said: string[] = [];
  const records = at.home.store.records(response.headers.get("x-palimpsest-thread")!, { kinds: ["message"] });
  for await (const { record } of records) if (record.kind === "message") said.push(`${record.origin} ${record.body}`);
  assert.match(said.at(-1)!, /^aborted .*Once/);
});

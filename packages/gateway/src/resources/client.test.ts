// `palimpsest/client` against a real server, also through a connection that breaks.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { createClient } from "palimpsest/client";
import { createKey } from "palimpsest/internal/key-operations";
import { ManualTime } from "../../test/manual-time.ts";
import { type Running, running } from "../../test/running.ts";
import { upstream } from "../../test/upstream.ts";

async function place(t: TestContext) {
  const provider = await upstream(t);
  // However long the client takes: its time to come back doesn't run out.
  const at = await running(t, { config: provider.config, after: new ManualTime().after });
  return { ...at, provider };
}

const noWait = async () => {};

test("every route is called by its name, with what it takes and gives", async (t) => {
  const at = await place(t);
  const client = createClient({ url: at.url });
  const made = await client.call("POST /api/threads", { body: { id: "a-b", title: "Birds" } });
  assert.deepEqual([made.id, made.title], ["a-b", "Birds"]);
  const { threads, next } = await client.call("GET /api/threads", { query: { limit: 5 } });
  assert.deepEqual([threads.map(({ id }) => id), next], [["a-b"], null]);
  const lines = '{"role":"user","content":"Which river?"}\n';
  await client.call("POST /api/threads/{id}/import", { params: { id: "c" }, body: lines });
  const { messages } = await client.call("GET /api/threads/{id}/messages", { params: { id: "c" } });
  assert.equal(messages.length, 1);
  assert.deepEqual(await client.call("GET /healthz"), { ok: true });
});

test("a refusal is thrown with its status, its code and what it asks for", async (t) => {
  const at = await place(t);
  const { key } = await createKey(at.home.store.keys!, { user: "ada", role: "user", expiresAt: null }, new Date());
  const missing = { params: { id: "none" } };
  const rows: readonly (readonly [Parameters<typeof createClient>[0], number, string])[] = [
    [{ url: at.url }, 401, "no-key"],
    [{ url: at.url, key: "pal_wrong" }, 401, "bad-key"],
    [{ url: `${at.url}/`, key }, 404, "missing"],
    [{ url: at.url, key, user: "bob" }, 403, "not-your-user"],
  ];
  for (const [options, status, code] of rows)
    await assert.rejects(createClient(options).call("GET /api/threads/{id}", missing), { status, code });
  await assert.rejects(createClient({ url: "http://127.0.0.1:1" }).call("GET /healthz"), {
    status: null,
    code: "unreachable",
  });
});

test("a run is followed to its end through a connection that breaks between any two events: each event once", async (t) => {
  const at = await place(t);
  const line = await breakable(t, at);
  const client = createClient({ url: line.url, wait: noWait });
  const asking = client.run("t", { prompt: "Count." });
  const request = await at.provider.next();
  request.say("0 ");
  const run = await asking;
  let text = "";
  let count = 0;
  const types: string[] = [];
  for await (const event of run) {
    types.push(event.type);
    line.cut();
    if (event.type !== "text-delta") continue;
    text += event.text;
    count += 1;
    if (count < 10) request.say(`${count} `);
    else if (count === 10) request.end();
  }
  assert.equal(text, "0 1 2 3 4 5 6 7 8 9 ");
  assert.deepEqual([types[0], types.at(-1)], ["run-start", "run-end"]);
  assert.equal(run.lastEvent, types.length);
  assert.ok(line.cuts > 10);
  const found = await client.call("GET /api/runs/{run}", { params: { run: run.id } });
  assert.deepEqual([found.end, found.lastEvent], ["answered", types.length]);
  const rest: string[] = [];
  for await (const event of await client.follow(run.id, { after: types.length - 2 })) rest.push(event.type);
  assert.deepEqual(rest, types.slice(-2));
});

test("a run can be cancelled, and one that is gone for good is an error at once", async (t) => {
  const at = await place(t);
  const client = createClient({ url: at.url, wait: noWait });
  const asking = client.run("t", { prompt: "Tell me." });
  const request = await at.provider.next();
  request.say("Once");
  const run = await asking;
  let end = "";
  for await (const event of run) {
    if (event.type === "text-delta") await run.cancel();
    if (event.type === "run-end") end = event.end.kind;
  }
  assert.equal(end, "aborted");
  await assert.rejects(client.follow("no-such-run"), { status: 404, code: "missing" });
});

interface Line {
  readonly url: string;
  readonly cuts: number;
  /** Breaks every connection there is. */
  cut(): void;
}

/** A way to the server that can be broken. */
async function breakable(t: TestContext, { port }: Running): Promise<Line> {
  const open = new Set<Socket>();
  let cuts = 0;
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.on("error", () => {});
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    for (const socket of open) socket.destroy();
    cuts += 1;
  };
  t.after(() => {
    cut();
    server.close();
  });
  return {
    // The same host, so that the door lets it in.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get cuts() {
      return cuts;
    },
    cut,
  };
}

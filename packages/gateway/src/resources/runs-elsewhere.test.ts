// Several gateways on one PostgreSQL: a run lives on one of them, and is read and stopped on any.
import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type PostgresServer, startPostgres } from "@palimpsest/testing/internal/postgres-server";
import type { UIMessage } from "ai";
import { openStore } from "palimpsest/stores";
import { Client } from "pg";
import { Chat } from "../../test/chat.ts";
import { allEvents, eventsOf, jsonOf, type ReadEvent, refusalOf, until } from "../../test/events.ts";
import { ManualTime } from "../../test/manual-time.ts";
import { type Running, running } from "../../test/running.ts";
import { type Upstream, upstream } from "../../test/upstream.ts";

let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(() => server.stop());

interface Fleet {
  readonly provider: Upstream;
  readonly all: readonly Running[];
  post(gateway: number, path: string, body: object): Promise<Response>;
  get(gateway: number, path: string, headers?: Record<string, string>): Promise<Response>;
}

/** A schema of its own for each test. */
async function fleet(
  t: TestContext,
  size: number,
  { schema, listen = false, after }: { schema: string; listen?: boolean; after?: ManualTime["after"] },
): Promise<Fleet> {
  const provider = await upstream(t);
  const url = `${server.url()}&schema=${schema}`;
  const listenUrl = listen ? `, listen_url: "${server.url()}"` : "";
  const config = `${provider.config}store: { url: "${url}"${listenUrl} }\n`;
  const all: Running[] = [];
  for (let index = 0; index < size; index += 1) all.push(await running(t, { config, ...(after && { after }) }));
  const json = { "content-type": "application/json" };
  return {
    provider,
    all,
    post: (gateway, path, body) =>
      fetch(all[gateway]!.url + path, { method: "POST", headers: json, body: JSON.stringify(body) }),
    get: (gateway, path, headers = {}) => fetch(all[gateway]!.url + path, { headers }),
  };
}

const says = (text: string) => (event: ReadEvent) => event.data["text"] === text;
const idsOf = (events: readonly ReadEvent[]) => events.flatMap(({ id }) => id ?? []);

for (const listen of [false, true])
  test(`a stream begun on one gateway is followed on another, resumed there, and stopped from a third${listen ? ", woken" : ", by looking alone"}`, async (t) => {
    const at = await fleet(t, 3, { schema: listen ? "woken" : "looked", listen });
    const asked = at.post(0, "/api/threads/t/runs", { prompt: "Tell me.", stream: true });
    const request = await at.provider.next();
    request.say("Once");
    const own = eventsOf(await asked);
    const first = await until(own, says("Once"));
    const run = (await asked).headers.get("x-palimpsest-run")!;
    const other = eventsOf(await at.get(1, `/api/runs/${run}/stream`));
    const seen = await until(other, says("Once"));
    assert.deepEqual(seen, first);
    await other.return(undefined);
    request.say(" upon");
    const resumed = await at.get(1, `/api/runs/${run}/stream`, { "last-event-id": `${run}:${idsOf(seen).at(-1)}` });
    const more = eventsOf(resumed);
    const [next] = await until(more, says(" upon"));
    assert.equal(next!.id, idsOf(seen).at(-1)! + 1);
    const status = await jsonOf(await at.get(2, `/api/runs/${run}`));
    assert.deepEqual([status["status"], status["thread"]], ["running", "t"]);
    assert.equal((await jsonOf(await at.get(2, "/api/threads/t/transcript")))["run"], run);
    assert.equal((await at.post(2, `/api/runs/${run}/cancel`, {})).status, 200);
    await request.closed;
    const last = await until(more, ({ data }) => data.type === "run-end");
    assert.deepEqual(last.at(-1)!.data["end"], { kind: "aborted" });
    const ended = await jsonOf(await at.get(2, `/api/runs/${run}`));
    assert.deepEqual([ended["status"], ended["end"], ended["text"]], ["ended", "aborted", "Once upon"]);
    const whole = await allEvents(await at.get(2, `/api/runs/${run}/stream`));
    assert.deepEqual(
      idsOf(whole),
      whole.map((_, index) => index + 1),
    );
  });

test("a run that was waited for is known on every gateway, and how it failed as on its own", async (t) => {
  const at = await fleet(t, 2, { schema: "waited" });
  const asked = at.post(0, "/api/threads/t/runs", { prompt: "Hello?" });
  const request = await at.provider.next();
  request.say("Hello!");
  request.end();
  const { run, ...answer } = await jsonOf(await asked);
  const known = await untilEnded(at, 1, String(run));
  for (const name of ["text", "usage", "steps", "end", "thread"]) assert.deepEqual(known[name], answer[name], name);
  const failing = at.post(0, "/api/threads/u/runs", { prompt: "Hello?", stream: true });
  const refused = await at.provider.next();
  refused.refuse(401, "no such key at models.internal");
  const events = await allEvents(await failing);
  const failed = (await failing).headers.get("x-palimpsest-run")!;
  const [there, here] = [await untilEnded(at, 1, failed), await jsonOf(await at.get(0, `/api/runs/${failed}`))];
  assert.deepEqual({ ...there, askedAt: "", endedAt: "" }, { ...here, askedAt: "", endedAt: "" });
  assert.deepEqual(await allEvents(await at.get(1, `/api/runs/${failed}/stream`)), events);
  assert.equal(await refusalOf(await at.get(1, "/api/runs/none")), "404 missing");
  const ahead = await at.get(1, `/api/runs/${failed}/stream`, { "last-event-id": "999" });
  assert.equal(await refusalOf(ahead), "400 invalid");
});

test("a chat's page that is loaded again through another gateway shows the answer under way from its beginning to its end, and keeps it going", async (t) => {
  const time = new ManualTime();
  let waits = 0;
  const after: ManualTime["after"] = (ms, act) => {
    if (ms === 5_000) waits += 1;
    return time.after(ms, act);
  };
  const untilWaits = async (count: number) => {
    while (waits < count) await new Promise((resolve) => setImmediate(resolve));
  };
  const at = await fleet(t, 2, { schema: "chats", after });
  const first = new Chat(at.all[0]!.url);
  const sent = first.sendMessage({ text: "Tell me." });
  const request = await at.provider.next();
  request.say("Once upon");
  await first.shows("Once upon");
  const { messages } = await jsonOf(await at.get(1, "/api/chat/t"));
  const second = new Chat(at.all[1]!.url, { messages: messages as UIMessage[] });
  const resumed = second.resumeStream();
  await second.shows("Once upon");
  await first.stop();
  await sent;
  // The first gateway's own reader has left: five seconds later it sees that a client reads elsewhere, and waits again.
  await untilWaits(1);
  await time.pass(5_000);
  await untilWaits(2);
  request.say(" a time.");
  request.end();
  await resumed;
  assert.deepEqual(
    [second.status, second.error, second.texts()],
    ["ready", undefined, ["Tell me.", "Once upon a time."]],
  );
  assert.equal(second.messages.at(-1)!.id, first.messages.at(-1)!.id);
  await second.resumeStream();
  assert.deepEqual([second.status, second.texts().length], ["ready", 2], "there is nothing more to resume");
});

test("a chat's request that is sent again to another gateway follows the answer there, and gets it from the log when it has ended", async (t) => {
  const at = await fleet(t, 2, { schema: "repeated" });
  const message = { id: "m1", role: "user", parts: [{ type: "text", text: "Tell me." }] };
  const post = (index: number) => at.post(index, "/api/chat", { id: "t", messages: [message] });
  const first = await post(0);
  const request = await at.provider.next();
  request.say("Once upon");
  const second = await post(1);
  assert.equal(second.headers.get("x-palimpsest-run"), first.headers.get("x-palimpsest-run"));
  request.say(" a time.");
  request.end();
  const texts = await Promise.all([first, second].map(textsOf));
  assert.deepEqual(
    [...texts, await textsOf(await post(1))],
    Array.from({ length: 3 }, () => "Once upon a time."),
  );
});

const textsOf = async (response: Response) =>
  (await response.text())
    .split("\n")
    .flatMap((line) => /"delta":"(.*)"/.exec(line)?.[1] ?? [])
    .join("");

test("to another user a run of another gateway isn't there, neither to be read nor to be stopped", async (t) => {
  const at = await fleet(t, 2, { schema: "users" });
  const store = await openStore(`${server.url()}&schema=users`);
  t.after(() => store.close());
  const runs = store.forUser("bob").shared!.runs;
  await runs.put({ id: "his", threadId: "t", model: null, request: null, holder: "x", ttlMs: 60_000 });
  for (const response of [
    await at.get(0, "/api/runs/his"),
    await at.get(1, "/api/runs/his/stream"),
    await at.post(0, "/api/runs/his/cancel", {}),
  ])
    assert.equal(await refusalOf(response), "404 missing");
  assert.equal((await runs.held("x", null))[0]!.cancel, false);
});

test("a run whose process is gone is closed by the next reader, with what was heard of it, also in the thread", async (t) => {
  const at = await fleet(t, 1, { schema: "gone" });
  const asked = at.post(0, "/api/threads/t/runs", { prompt: "Hello?" });
  const request = await at.provider.next();
  request.say("Hello!");
  request.end();
  await jsonOf(await asked);
  const store = await openStore(`${server.url()}&schema=gone`);
  t.after(() => store.close());
  const { runs } = store.shared!;
  const { version } = (await store.head("t"))!;
  await runs.put({ id: "dead", threadId: "t", model: null, request: null, holder: "killed", ttlMs: 0 });
  const events = [
    { type: "run-start", threadId: "t", runId: "dead" },
    { type: "message-append", seq: version, role: "user" },
    { type: "text-delta", id: "1", text: "It was" },
  ];
  await runs.write("dead", "killed", { first: 1, events: events.map((event) => JSON.stringify(event)) });
  const read = await allEvents(await at.get(0, "/api/runs/dead/stream"));
  assert.deepEqual(
    read.map(({ id, data }) => [id, data.type]),
    [
      [1, "run-start"],
      [2, "message-append"],
      [3, "text-delta"],
      [4, "run-end"],
    ],
  );
  const known = await jsonOf(await at.get(0, "/api/runs/dead"));
  assert.deepEqual([known["end"], known["text"]], ["aborted", "It was"]);
  const messages: string[] = [];
  for await (const { record } of store.records("t", { kinds: ["message"] }))
    if (record.kind === "message") messages.push(`${record.origin} ${record.body}`);
  assert.match(messages.at(-1)!, /^aborted .*It was/);
});

test("a run that the database has forgotten, as after a crash or on a promoted standby, is told again from its first event", async (t) => {
  const at = await fleet(t, 2, { schema: "forgotten" });
  const asked = at.post(0, "/api/threads/t/runs", { prompt: "Tell me.", stream: true });
  const request = await at.provider.next();
  request.say("Once");
  const own = eventsOf(await asked);
  const heard = await until(own, says("Once"));
  const run = (await asked).headers.get("x-palimpsest-run")!;
  const other = eventsOf(await at.get(1, `/api/runs/${run}/stream`));
  assert.deepEqual(await until(other, says("Once")), heard);
  await sql("TRUNCATE forgotten.runs, forgotten.run_events");
  request.say(" upon");
  const [next] = await until(other, says(" upon"));
  assert.equal(next!.id, idsOf(heard).at(-1)! + 1, "who follows goes on where it was");
  const late = eventsOf(await at.get(1, `/api/runs/${run}/stream`));
  assert.deepEqual(await until(late, says(" upon")), [...heard, next]);
  request.end();
  await until(late, ({ data }) => data.type === "run-end");
  const end = await until(other, ({ data }) => data.type === "run-end");
  for (const events of [own, other, late]) for await (const _ of events);
  assert.equal((end.at(-1)!.data["end"] as { kind: string }).kind, "answered");
});

test("a gateway whose run others have closed, since it was silent for too long, stops it", async (t) => {
  const at = await fleet(t, 2, { schema: "silent" });
  const asked = at.post(0, "/api/threads/t/runs", { prompt: "Tell me.", stream: true });
  const request = await at.provider.next();
  request.say("Once");
  const own = eventsOf(await asked);
  await until(own, says("Once"));
  const run = (await asked).headers.get("x-palimpsest-run")!;
  const other = eventsOf(await at.get(1, `/api/runs/${run}/stream`));
  await until(other, says("Once"));
  const closed = until(other, ({ data }) => data.type === "run-end");
  // Again and again: the gateway may renew its lease before the other one has looked.
  for (let isClosed = false; !isClosed; isClosed = await Promise.race([closed.then(() => true), pause(100, false)]))
    await sql("UPDATE silent.runs SET until = clock_timestamp() - interval '1 second'");
  assert.deepEqual((await closed).at(-1)!.data["end"], { kind: "aborted" });
  request.say(" upon");
  await request.closed;
  const last = await until(own, ({ data }) => data.type === "run-end");
  assert.deepEqual(last.at(-1)!.data["end"], { kind: "aborted" });
});

async function untilEnded(at: Fleet, gateway: number, run: string): Promise<Readonly<Record<string, unknown>>> {
  for (;;) {
    const response = await at.get(gateway, `/api/runs/${run}`);
    const known = await jsonOf(response);
    if (response.status === 200 && known["status"] === "ended") return known;
  }
}

async function sql(text: string): Promise<void> {
  const client = new Client({ connectionString: server.url() });
  await client.connect();
  await client.query(text);
  await client.end();
}

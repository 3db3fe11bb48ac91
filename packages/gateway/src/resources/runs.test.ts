// Runs on a real server, with a provider that says what the test tells it to, when it tells it.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { createKey } from "palimpsest/internal/key-operations";
import { type ApiDocument, clientOf, operationsOf } from "../../test/api-client.ts";
import { allEvents, eventsOf, jsonOf, type ReadEvent, refusalOf, until } from "../../test/events.ts";
import { type Running, running } from "../../test/running.ts";
import { type Upstream, upstream } from "../../test/upstream.ts";

const JSON_TYPE = { "content-type": "application/json" };

interface Place extends Running {
  readonly provider: Upstream;
  post(path: string, body: object, init?: RequestInit): Promise<Response>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
}

async function place(t: TestContext, more = ""): Promise<Place> {
  const provider = await upstream(t);
  const at = await running(t, { config: provider.config + more });
  return {
    ...at,
    provider,
    post: (path, body, init = {}) =>
      fetch(at.url + path, { method: "POST", headers: JSON_TYPE, body: JSON.stringify(body), ...init }),
    get: (path, headers = {}) => fetch(at.url + path, { headers }),
  };
}

const says = (text: string) => (event: ReadEvent) => event.data["text"] === text;
const textOf = (events: readonly ReadEvent[]) =>
  events.map(({ data }) => (data.type === "text-delta" ? data["text"] : "")).join("");
/** What was said in a thread, each with where it came from. */
async function saidIn(at: Place, threadId: string): Promise<string[]> {
  const said: string[] = [];
  for await (const { record } of at.home.store.records(threadId, { kinds: ["message"] }))
    if (record.kind === "message") said.push(`${record.origin} ${record.body}`);
  return said;
}

test("a run is answered as run --json does, with its id, and makes the thread", async (t) => {
  const at = await place(t);
  const asked = at.post("/api/threads/t/runs", { prompt: "Hello?" });
  const request = await at.provider.next();
  request.say("Hello!");
  request.end();
  const answer = await jsonOf(await asked);
  assert.deepEqual([answer.thread, answer.text, answer.end, answer.steps], ["t", "Hello!", "answered", 1]);
  const found = await jsonOf(await at.get(`/api/runs/${answer.run}`));
  assert.deepEqual([found.status, found.text, found.run], ["ended", "Hello!", answer.run]);
  assert.equal((await at.get("/api/threads/t")).status, 200);
});

test("a run that its budget ended says what was spent, as the description has it", async (t) => {
  const at = await place(t, "limits: { run_tokens: 1 }\n");
  const document = (await (await at.get("/openapi.json")).json()) as ApiDocument;
  const client = clientOf(document, { url: at.url, key: "none" });
  const operation = operationsOf(document).find(({ path }) => path === "/api/threads/{id}/runs")!;
  const answer = await client[operation.operationId]!({ params: { id: "t" }, body: { prompt: "Hello?" } });
  const { end, spent } = answer.value as Record<string, unknown>;
  assert.deepEqual([end, spent], ["budget", { tokens: 0, cost: null }]);
  assert.equal(answer.problem, null);
});

test("one run, three readers: one late, one that comes back with Last-Event-ID, one that doesn't read at first: the same events once each", async (t) => {
  const at = await place(t);
  const first = await at.post("/api/threads/t/runs", { prompt: "Count.", stream: true });
  const run = first.headers.get("x-palimpsest-run");
  assert.deepEqual(
    [first.headers.get("content-type"), first.headers.get("x-accel-buffering")],
    ["text/event-stream", "no"],
  );
  const request = await at.provider.next();
  request.say("one ");
  const starter = eventsOf(first);
  const begun = await until(starter, says("one "));
  // Reads nothing until the run is over.
  const slow = connect(at.port, "127.0.0.1", () => {
    slow.write(`GET /api/runs/${run}/stream HTTP/1.1\r\nhost: 127.0.0.1:${at.port}\r\nconnection: close\r\n\r\n`);
    slow.pause();
  });
  t.after(() => slow.destroy());
  const late = allEvents(await at.get(`/api/runs/${run}/stream`));
  await starter.return(undefined);
  request.say("two ");
  const large = "x".repeat(4096);
  for (let count = 0; count < 500; count += 1) request.say(large);
  request.end();
  const all = await late;
  const back = await allEvents(await at.get(`/api/runs/${run}/stream`, { "last-event-id": String(begun.at(-1)!.id) }));
  assert.deepEqual([...begun, ...back], all);
  assert.deepEqual(
    all.map(({ id }) => id),
    all.map((_, index) => index + 1),
  );
  assert.deepEqual([all[0]!.data.type, all.at(-1)!.data.type], ["run-start", "run-end"]);
  assert.equal(textOf(all), `one two ${large.repeat(500)}`);
  let text = "";
  for await (const piece of slow.setEncoding("utf8")) text += piece;
  const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  assert.deepEqual(
    ids,
    all.map(({ id }) => id),
  );
});

test("an id that isn't one, or that the run hasn't come to, is refused", async (t) => {
  const at = await place(t);
  const asked = at.post("/api/threads/t/runs", { prompt: "Hello?" });
  (await at.provider.next()).end();
  const { run } = await jsonOf(await asked);
  for (const id of ["x", "-1", "1e3", "999999", "9".repeat(30)]) {
    const answer = await at.get(`/api/runs/${run}/stream`, { "last-event-id": id });
    assert.equal(await refusalOf(answer), "400 invalid", id);
  }
  const behind = await allEvents(await at.get(`/api/runs/${run}/stream?after=1`));
  assert.equal(behind[0]!.id, 2);
});

test("a run that is cancelled ends aborted, and what it said stays in the thread", async (t) => {
  const at = await place(t);
  const asked = at.post("/api/threads/t/runs", { prompt: "Tell me.", stream: true });
  const request = await at.provider.next();
  request.say("Once upon");
  const response = await asked;
  const events = eventsOf(response);
  await until(events, says("Once upon"));
  const run = response.headers.get("x-palimpsest-run");
  assert.equal((await at.post(`/api/runs/${run}/cancel`, {})).status, 200);
  const rest = await until(events, ({ data }) => data.type === "run-end");
  assert.deepEqual(rest.at(-1)!.data["end"], { kind: "aborted" });
  await request.closed;
  const found = await jsonOf(await at.get(`/api/runs/${run}`));
  assert.deepEqual([found.status, found.end, found.text], ["ended", "aborted", "Once upon"]);
  assert.match((await saidIn(at, "t")).at(-1)!, /^aborted .*Once upon/);
});

test("a second run on the thread is refused, waits its turn, or goes to a fork of the thread as it was", async (t) => {
  const at = await place(t);
  const hello = at.post("/api/threads/t/runs", { prompt: "Hello?" });
  const greeting = await at.provider.next();
  greeting.say("Hello!");
  greeting.end();
  await hello;
  const first = at.post("/api/threads/t/runs", { prompt: "First." });
  const one = await at.provider.next();
  const refused = await at.post("/api/threads/t/runs", { prompt: "Second." });
  assert.equal(await refusalOf(refused), "409 busy");
  const waiting = await at.post("/api/threads/t/runs", { prompt: "Third.", multitask: "wait", stream: true });
  const third = waiting.headers.get("x-palimpsest-run");
  assert.equal((await jsonOf(await at.get(`/api/runs/${third}`))).status, "waiting");
  const forking = at.post("/api/threads/t/runs", { prompt: "Fourth.", multitask: "fork" });
  const four = await at.provider.next();
  assert.doesNotMatch(JSON.stringify(four.messages), /First/);
  assert.match(JSON.stringify(four.messages), /Hello!.*Fourth/);
  four.say("4");
  four.end();
  const forked = await jsonOf(await forking);
  assert.notEqual(forked.thread, "t");
  one.say("1");
  one.end();
  assert.equal((await jsonOf(await first)).text, "1");
  const three = await at.provider.next();
  assert.match(JSON.stringify(three.messages), /First.*Third/);
  three.say("3");
  three.end();
  assert.equal(textOf(await allEvents(waiting)), "3");
});

test("a run that waits can be cancelled: nothing of it is written, and the next one goes on", async (t) => {
  const at = await place(t);
  const first = at.post("/api/threads/t/runs", { prompt: "First." });
  const one = await at.provider.next();
  const wait = (prompt: string) => at.post("/api/threads/t/runs", { prompt, multitask: "wait", stream: true });
  const [second, third] = [await wait("Second."), await wait("Third.")];
  await at.post(`/api/runs/${second.headers.get("x-palimpsest-run")}/cancel`, {});
  const events = await allEvents(second);
  assert.deepEqual(events.at(-1)!.data["end"], { kind: "aborted" });
  one.end();
  const next = await at.provider.next();
  assert.match(JSON.stringify(next.messages), /Third/);
  assert.doesNotMatch(JSON.stringify(next.messages), /Second/);
  next.end();
  await Promise.all([first, allEvents(third)]);
});

test("so many may wait for one thread, and the next is told to come back", async (t) => {
  const at = await place(t, "gateway: { limits: { running: null } }\n");
  const first = at.post("/api/threads/t/runs", { prompt: "First." });
  const one = await at.provider.next();
  const wait = () => at.post("/api/threads/t/runs", { prompt: "Next.", multitask: "wait", stream: true });
  const waiting: Response[] = [];
  for (let count = 0; count < 16; count += 1) waiting.push(await wait());
  const refused = await wait();
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "1"]);
  for (const { headers } of waiting) await at.post(`/api/runs/${headers.get("x-palimpsest-run")}/cancel`, {});
  await Promise.all(waiting.map(allEvents));
  one.end();
  await first;
});

test("a run that its caller has left counts until it ends: no more of them than the limit allows at once", async (t) => {
  const at = await place(t, "gateway: { limits: { running: 2 } }\n");
  const gone = new AbortController();
  const requests = [];
  for (const thread of ["a", "b"]) {
    const body = { prompt: "Tell me.", stream: true };
    const asked = at.post(`/api/threads/${thread}/runs`, body, { signal: gone.signal });
    requests.push(await at.provider.next());
    await asked;
  }
  gone.abort();
  const over = () => at.post("/api/threads/c/runs", { prompt: "Me too.", stream: true });
  const refused = await over();
  assert.deepEqual([refused.status, await refusalOf(refused)], [429, "429 limited"]);
  requests[0]!.end();
  await settled(at, "a");
  const asked = over();
  (await at.provider.next()).end();
  assert.equal((await allEvents(await asked)).at(-1)!.data.type, "run-end");
  requests[1]!.end();
  await settled(at, "b");
});

test("a thousand readers that wait for one run cost other clients nothing, and all get its end", async (t) => {
  const at = await place(t, "gateway: { limits: { running: null } }\n");
  const asking = at.post("/api/threads/t/runs", { prompt: "Tell me.", stream: true });
  const request = await at.provider.next();
  request.say("Once");
  const run = (await asking).headers.get("x-palimpsest-run");
  const text = `GET /api/runs/${run}/stream HTTP/1.1\r\nhost: 127.0.0.1:${at.port}\r\nconnection: close\r\n\r\n`;
  const readers = Array.from({ length: 1000 }, () => {
    const socket = connect(at.port, "127.0.0.1", () => socket.write(text)).setEncoding("utf8");
    t.after(() => socket.destroy());
    return { begun: once(socket, "data"), ended: wholeOf(socket) };
  });
  await Promise.all(readers.map(({ begun }) => begun));
  assert.equal((await at.get("/healthz")).status, 200);
  request.end();
  for (const { ended } of readers) assert.match(await ended, /"type":"run-end"/);
});

for (const stream of [true, false])
  test(`when its caller goes away a run ${stream ? "that is streamed " : ""}goes on or is cancelled, as the caller said`, async (t) => {
    const at = await place(t);
    for (const onDisconnect of ["continue", "cancel"]) {
      const gone = new AbortController();
      const body = { prompt: "Tell me.", stream, on_disconnect: onDisconnect };
      const asked = at.post(`/api/threads/${onDisconnect}/runs`, body, { signal: gone.signal });
      const request = await at.provider.next();
      request.say("Once upon");
      if (stream) await until(eventsOf(await asked), says("Once upon"));
      gone.abort();
      await asked.catch(() => {});
      if (onDisconnect === "cancel") await request.closed;
      else {
        request.say(" a time.");
        request.end();
      }
      const thread = await settled(at, onDisconnect);
      assert.match(thread.at(-1)!, onDisconnect === "cancel" ? /^aborted .*Once upon/ : /^model .*a time/);
    }
  });

test("without a prompt a run goes on from where the thread stands, and there is something to go on from", async (t) => {
  const at = await place(t);
  const nothing = await at.post("/api/threads/t/runs", {});
  assert.equal(await refusalOf(nothing), "422 nothing-to-answer");
  const rows: readonly (readonly [object, string])[] = [
    [{ prompt: "  " }, "400 empty-prompt"],
    [{ messages: [] }, "400 empty-prompt"],
    [{ prompt: "a", messages: [{ role: "user", content: "b" }] }, "400 bad-message"],
    [{ messages: [{ role: "wizard", content: "b" }] }, "400 bad-message"],
    [{ prompt: "a", model: "none" }, "400 no-model"],
    [{ prompt: "a", base_url: "http://evil.example" }, "400 invalid"],
    [{ messages: [image("http://evil.example/a.png")] }, "400 no-addresses"],
    [{ messages: [image({ type: "url", url: "file:///etc/passwd" })] }, "400 no-addresses"],
  ];
  for (const [body, expected] of rows) {
    const answer = await at.post("/api/threads/t/runs", body);
    assert.equal(await refusalOf(answer), expected, JSON.stringify(body));
  }
  assert.equal((await at.get("/api/threads/t")).status, 404, "nothing was made");
  assert.equal((await at.post("/api/threads/..%2Fx/runs", { prompt: "a" })).status, 400);
});

test("what is redacted or deleted in a thread can't be had from its runs either", async (t) => {
  const at = await place(t);
  for (const erase of ["redact", "delete"]) {
    const asked = at.post(`/api/threads/${erase}/runs`, { prompt: "Hello?" });
    const request = await at.provider.next();
    request.say("The code is 4711.");
    request.end();
    const { run } = await jsonOf(await asked);
    assert.equal((await at.get(`/api/runs/${run}`)).status, 200);
    const seq = (await at.home.store.head(erase))!.version;
    let message = 0;
    for await (const { record } of at.home.store.records(erase, { range: [1, seq], kinds: ["message"] }))
      message = record.seq;
    const path = `/api/threads/${erase}`;
    const done =
      erase === "redact"
        ? await at.post(`${path}/redact`, { seq: message })
        : await fetch(at.url + path, { method: "DELETE", headers: JSON_TYPE, body: "{}" });
    assert.equal(done.status, 200);
    for (const route of [`/api/runs/${run}`, `/api/runs/${run}/stream`])
      assert.equal(await refusalOf(await at.get(route)), "404 missing", erase);
  }
});

test("a provider that fails is a bad gateway; only who runs the server and asks for themselves is told its words", async (t) => {
  const lines: string[] = [];
  const provider = await upstream(t);
  const at = await running(t, { config: provider.config, log: (line) => lines.push(JSON.stringify(line)) });
  const told = async (as: Readonly<Record<string, string>>): Promise<boolean[]> => {
    const words: boolean[] = [];
    for (const stream of [false, true]) {
      const request = {
        method: "POST",
        headers: { ...JSON_TYPE, ...as },
        body: JSON.stringify({ prompt: "Hi", stream }),
      };
      const asked = fetch(`${at.url}/api/threads/t-${stream}/runs`, request);
      (await provider.next()).refuse(401, "no such key at models.internal");
      const answer = await asked;
      const said = stream ? await allEvents(answer) : await jsonOf(answer);
      if (!stream) assert.deepEqual([answer.status, Object(Object(said).error).code], [502, "key-refused"]);
      words.push(JSON.stringify(said).includes("models.internal"));
    }
    return words;
  };
  assert.deepEqual(await told({}), [true, true], "without keys it is the person's own machine");
  const keyOf = async (userId: string, role: "user" | "admin") => {
    const { key } = await createKey(at.home.store.keys!, { user: userId, role, expiresAt: null }, new Date());
    return { authorization: `Bearer ${key}` };
  };
  const [ada, ops] = [await keyOf("ada", "user"), await keyOf("ops", "admin")];
  assert.deepEqual(await told(ada), [false, false]);
  assert.deepEqual(await told(ops), [true, true]);
  assert.deepEqual(await told({ ...ops, "x-palimpsest-user": "bob" }), [false, false]);
  assert.match(lines.join("\n"), /"run":.*"code":"key-refused".*models\.internal/);
});

test("shutting down: no new runs, those under way may finish, and then end as an error that readers understand", async (t) => {
  const at = await place(t, "gateway: { shutdown_grace_seconds: 0.2 }\n");
  const response = await at.post("/api/threads/t/runs", { prompt: "Tell me.", stream: true });
  const request = await at.provider.next();
  request.say("Once upon");
  const events = eventsOf(response);
  await until(events, says("Once upon"));
  const closed = at.gateway.close();
  assert.equal((await at.get("/readyz")).status, 503);
  const late = await at.post("/api/threads/u/runs", { prompt: "Me too." });
  assert.equal(await refusalOf(late), "503 closing");
  const rest = await until(events, ({ name }) => name === "error");
  assert.deepEqual(rest.at(-2)!.data["end"], { kind: "aborted" });
  assert.equal((rest.at(-1)!.data["error"] as { code: string }).code, "closing");
  await closed;
  const records: string[] = [];
  for await (const { record } of at.home.store.records("t", { kinds: ["message"] }))
    records.push(JSON.stringify(record));
  assert.match(records.at(-1)!, /"origin":"aborted".*Once upon/);
});

async function wholeOf(socket: Socket): Promise<string> {
  let text = "";
  for await (const piece of socket) text += piece;
  return text;
}

function image(data: unknown): object {
  return { role: "user", content: [{ type: "file", mediaType: "image/png", data }] };
}

/** The thread once no run is under way on it. */
async function settled(at: Place, threadId: string) {
  for (;;) {
    const answer = await at.post(`/api/threads/${threadId}/verify`, {});
    const lease = await at.home.store.acquireLease(threadId, "test", 1000);
    assert.equal(answer.status, 200);
    if (lease.kind === "acquired") {
      await at.home.store.releaseLease(lease.lease);
      return saidIn(at, threadId);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("a run that is refused for the client's own mistake is no error of the server's, and has no stack in its log", async (t) => {
  const lines: { readonly run?: string; readonly level: string; readonly code?: string; readonly error?: string }[] =
    [];
  const at = await running(t, { log: (line) => lines.push(line as never) });
  const body = JSON.stringify({ prompt: " " });
  const answer = await fetch(`${at.url}/api/threads/t/runs`, { method: "POST", headers: JSON_TYPE, body });
  assert.equal(await refusalOf(answer), "400 empty-prompt");
  const of = lines.filter(({ run }) => run !== undefined);
  assert.deepEqual(
    of.map(({ level, code }) => [level, code]),
    [["info", "empty-prompt"]],
  );
  assert.ok(of.every(({ error }) => error !== undefined && !error.includes("\n")));
});

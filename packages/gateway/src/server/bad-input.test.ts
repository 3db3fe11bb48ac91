// What a careless or hostile client sends, on the real server: a clear answer each time, and nothing changed.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { createKey } from "palimpsest/internal/key-operations";
import { type Answered, codeOf, type Running, running, sent } from "../../test/running.ts";

const JSON_TYPE = { "content-type": "application/json" };

function outcome(answer: Answered): string {
  return `${answer.status} ${codeOf(answer)}`;
}

async function withThread(t: TestContext, config?: string): Promise<Running> {
  const at = await running(t, config === undefined ? {} : { config });
  const made = await post(at, "/api/threads", JSON.stringify({ id: "t" }));
  assert.equal(made.status, 201, made.text);
  return at;
}

function post(at: Running, path: string, body: string, headers: Record<string, string> = JSON_TYPE): Promise<Answered> {
  return sent(at, path, { method: "POST", body, headers });
}

/** The bytes as they are, and everything that comes back until the server ends the connection. */
function raw({ port }: Running, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.setEncoding("utf8");
    socket.on("data", (piece: string) => {
      received += piece;
    });
    socket.on("close", () => resolve(received));
    socket.on("error", reject);
  });
}

test("a body that isn't what the route takes is refused with the place, and nothing is written", async (t) => {
  const at = await withThread(t);
  const rows: readonly (readonly [path: string, body: string, expected: string, words: RegExp])[] = [
    ["/api/threads", "{", "400 bad-json", /not JSON/],
    ["/api/threads", "[]", "400 invalid", /body/],
    ["/api/threads", "null", "400 invalid", /body/],
    ["/api/threads", '"t2"', "400 invalid", /body/],
    ["/api/threads", '{"id": 5}', "400 invalid", /body\.id/],
    ["/api/threads", '{"id": "t2", "color": "red"}', "400 invalid", /color/],
    ["/api/threads", '{"id": "t2", "__proto__": {"admin": true}}', "400 invalid", /__proto__/],
    ["/api/threads", '{"id": "../t2"}', "400 bad-thread-id", /\.\./],
    ["/api/threads", '{"id": ""}', "400 bad-thread-id", /empty/],
    ["/api/threads", '{"id": "t"}', "409 exists", /already/],
    ["/api/threads", '{"id": "t2", "title": "  "}', "400 invalid", /title/],
    ["/api/threads", '{"id": "t2", "user": "bob"}', "403 not-your-user", /another user/],
    ["/api/threads/t/pin", '{"seq": "1"}', "400 invalid", /body\.seq/],
    ["/api/threads/t/pin", '{"seq": 1.5}', "400 invalid", /body\.seq/],
    ["/api/threads/t/pin", '{"seq": 99}', "422 no-message", /99/],
    ["/api/threads/t/undo", '{"seq": 0}', "400 invalid", /body\.seq/],
    ["/api/threads/t/undo", "{}", "409 nothing-to-undo", /stands/],
    ["/api/threads/t/fork", '{"at": 99}', "422 beyond-end", /99/],
    ["/api/threads/t/fork", '{"as": "a/b"}', "400 bad-thread-id", /a\/b/],
    ["/api/threads/t/compact", '{"window": -1}', "400 invalid", /window/],
    ["/api/threads/t/compact", "{}", "422 no-history", /nothing was ever said/],
    ["/api/memory/facts", '{"content": "..."}', "422 empty", /word/],
    ["/api/memory/facts?agent=../x", '{"content": "A fact"}', "400 invalid", /agent/],
    ["/api/memory/import", '{"facts": 7}', "422 unreadable", /memory document/],
  ];
  for (const [path, body, expected, words] of rows) {
    const answer = await post(at, path, body);
    assert.equal(outcome(answer), expected, `${path} ${body}: ${answer.text}`);
    assert.match(answer.text, words, `${path} ${body}`);
  }
  const { threads } = await at.home.store.threads();
  assert.deepEqual(
    threads.map(({ header }) => header.id),
    ["t"],
  );
});

test("an unknown query, a repeated one and an invalid one are refused", async (t) => {
  const at = await withThread(t);
  for (const [path, words] of [
    ["/api/threads?colour=red", /colour/],
    ["/api/threads?limit=5&limit=6", /stands twice/],
    ["/api/threads?limit=0", /limit/],
    ["/api/threads?limit=1e3", /limit/],
    ["/api/threads?after=somewhere", /after/],
    ["/api/threads/t/search", /query\.q/],
    ["/api/threads/t/records?after=-1", /after/],
    ["/api/user?x=1", /unknown/],
  ] as const) {
    const answer = await sent(at, path);
    assert.equal(outcome(answer), "400 invalid", `${path}: ${answer.text}`);
    assert.match(answer.text, words, path);
  }
});

test("ids that climb out or hide a slash name nothing", async (t) => {
  const at = await withThread(t);
  for (const id of [
    "%2e%2e%2fkeys",
    "..%2f..%2fetc",
    "t%2fmessages",
    "t%00",
    "%E0%A4",
    "a".repeat(5000),
    "t;x",
    "T%20",
  ]) {
    const answer = await sent(at, `/api/threads/${id}/messages`);
    assert.ok([404, 400].includes(answer.status), `${id}: ${answer.status}`);
    assert.doesNotMatch(answer.text, /"messages"/);
  }
  assert.equal((await sent(at, "/api/threads/t/requests/abc")).status, 404);
  const climbed = await sent(at, "/api/threads/../keys");
  assert.deepEqual(JSON.parse(climbed.text), { keys: [] }, "a path is what it means, and the key decides");
});

test("a body over the limit is cut off, whether it announces its size or not", async (t) => {
  const at = await withThread(t, "gateway: {body_limit_mb: 0.001}\n");
  const long = JSON.stringify({ id: "t2", title: "x".repeat(2000) });
  assert.equal(outcome(await post(at, "/api/threads", long)), "413 too-large");
  const head = `POST /api/threads HTTP/1.1\r\nhost: 127.0.0.1:${at.port}\r\ncontent-type: application/json\r\n`;
  const piece = `${(600).toString(16)}\r\n${"x".repeat(600)}\r\n`;
  const answer = await raw(
    at,
    `${head}transfer-encoding: chunked\r\nconnection: close\r\n\r\n${piece.repeat(3)}0\r\n\r\n`,
  );
  assert.match(answer, /^HTTP\/1\.1 413 /);
  assert.equal(await at.home.store.header("t2"), undefined);
});

test("a form, a page under another name and one of another site change nothing", async (t) => {
  const at = await withThread(t);
  const host = `127.0.0.1:${at.port}`;
  const rows: readonly (readonly [Record<string, string>, string])[] = [
    [{ "content-type": "application/x-www-form-urlencoded" }, "415 not-json"],
    [{ "content-type": "text/plain" }, "415 not-json"],
    [{ "content-type": "multipart/form-data; boundary=x" }, "415 not-json"],
    [{ ...JSON_TYPE, host: "rebound.example" }, "403 foreign-host"],
    [{ ...JSON_TYPE, host, origin: "https://evil.example" }, "403 foreign-origin"],
    [{ ...JSON_TYPE, host, origin: "null" }, "403 foreign-origin"],
    [{ ...JSON_TYPE, host, "sec-fetch-site": "cross-site" }, "403 cross-site"],
  ];
  for (const [headers, expected] of rows)
    assert.equal(outcome(await post(at, "/api/threads", '{"id": "t2"}', headers)), expected);
  const preflight = await sent(at, "/api/threads", { method: "OPTIONS", headers: { origin: "https://evil.example" } });
  assert.equal(preflight.status, 403);
  assert.equal(preflight.headers["access-control-allow-origin"], undefined);
  assert.equal(await at.home.store.header("t2"), undefined);
});

test("a user that is no text, and headers that are none, are refused; nothing sent comes back as a header", async (t) => {
  const at = await withThread(t);
  const { keys } = at.home.store;
  const { key } = await createKey(keys!, { user: "front", role: "delegate", expiresAt: null }, new Date());
  const as = (userId: string) => sent(at, "/api/user", { headers: { "x-api-key": key, "x-palimpsest-user": userId } });
  const latin = (text: string) => Buffer.from(text).toString("latin1");
  assert.equal(JSON.parse((await as(latin("Zoë 😀"))).text).user, "Zoë 😀");
  assert.equal(outcome(await as("Zo\xeb")), "400 bad-user");
  assert.equal(outcome(await as("x".repeat(2001))), "400 bad-user");
  const request = `GET /api/user HTTP/1.1\r\nhost: 127.0.0.1:${at.port}\r\nx-api-key: ${key}\r\nconnection: close\r\n`;
  assert.match(await raw(at, `${request}x-palimpsest-user: a\rset-cookie: b=1\r\n\r\n`), /^HTTP\/1\.1 400 /);
  assert.match(await raw(at, `${request}x-long: ${"y".repeat(20_000)}\r\n\r\n`), /^HTTP\/1\.1 431 /);
  assert.match(await raw(at, "this is no HTTP\r\n\r\n"), /^HTTP\/1\.1 400 /);
  const split = await raw(at, `${request.replace("/api/user", "/api/threads/%0d%0aset-cookie:%20b=1")}\r\n`);
  assert.match(split, /^HTTP\/1\.1 404 /);
  assert.doesNotMatch(split.split("\r\n\r\n")[0]!, /set-cookie/i);
});

test("a key that asks too often is told when to come back", async (t) => {
  const at = await withThread(t, "gateway: {limits: {requests_per_minute: 2}}\n");
  const answers = [await sent(at, "/api/threads"), await sent(at, "/api/threads")];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 429],
  );
  assert.equal(codeOf(answers[1]!), "limited");
  assert.match(String(answers[1]!.headers["retry-after"]), /^[1-9]\d?$/);
  assert.equal((await sent(at, "/healthz")).status, 200, "health is nobody's account");
});

test("what fails inside is named in the log and not to the client", async (t) => {
  const at = await withThread(t);
  await at.home.store.close();
  const answer = await sent(at, "/api/threads");
  assert.equal(answer.status, 503);
  assert.doesNotMatch(answer.text, /palimpsest-gateway-|database/);
  assert.match(at.lines.at(-1)!.error ?? "", /at /);
  assert.equal((await sent(at, "/readyz")).status, 503);
});

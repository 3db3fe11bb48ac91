// Whatever fails on our side or on the way, the client sees what the vendor would say, and the log stays whole.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { replay } from "palimpsest/internal/threads";
import type { Store } from "palimpsest/stores";
import { beforeProvider } from "../../test/before-provider.ts";
import { ManualTime } from "../../test/manual-time.ts";
import { running } from "../../test/running.ts";
import { withStore } from "../../test/with-store.ts";

type Message = Readonly<Record<string, unknown>>;
const user = (content: string): Message => ({ role: "user", content });

async function ask(
  url: string,
  messages: readonly Message[],
  more: { headers?: Record<string, string>; body?: Message } = {},
) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...more.headers },
    body: JSON.stringify({ model: "gpt", messages, ...more.body }),
  });
  const header = (name: string) => response.headers.get(`x-palimpsest-${name}`);
  const text = await response.text();
  return {
    status: response.status,
    text,
    match: header("match"),
    view: header("view"),
    thread: header("thread"),
    tokens: header("tokens"),
  };
}

const down = async (): Promise<never> => {
  throw new Error("the disk is gone");
};

test("a store that fails, before or after the answer, never fails the client", async (t) => {
  const { home, provider } = await beforeProvider(t, { respond: ({ index }) => `answer ${index}` });
  const failing: readonly ((store: Store) => Store)[] = [
    (store) => ({ ...store, matches: { ...store.matches!, find: down } }),
    (store) => ({ ...store, createThread: down }),
    (store) => ({ ...store, append: down }),
    (store) => ({ ...store, acquireLease: down, head: down }),
  ];
  for (const change of failing) {
    const url = await withStore(t, home.directory, change);
    const answer = await ask(url, [user("one"), { role: "assistant", content: "two" }, user("three")]);
    assert.deepEqual([answer.status, answer.match], [200, "passed"]);
  }
  assert.equal(provider.requests.length, failing.length);
});

test("an answer that could not be kept is written when the conversation comes again", async (t) => {
  const { home, url } = await beforeProvider(t, { respond: ({ index }) => `answer ${index}` });
  let appends = 0;
  const broken = await withStore(t, home.directory, (store) => ({
    ...store,
    append: (...given) => (++appends === 2 ? down() : store.append(...given)),
  }));
  const first = await ask(broken, [user("one")]);
  assert.deepEqual([first.status, first.match], [200, "new"]);
  const second = await ask(url, [user("one"), { role: "assistant", content: "answer 0" }, user("two")]);
  const bodies: unknown[] = [];
  for await (const { body } of replay(home, second.thread!)) bodies.push(JSON.parse(body).content);
  assert.deepEqual(bodies, ["one", "answer 0", "two", "answer 1"]);
});

test("a silent store is left out, and what can't fit without it is shortened by rules alone", async (t) => {
  const { home, provider } = await beforeProvider(t, { window: 4000 });
  const silence = (store: Store): Store => ({
    ...store,
    matches: { ...store.matches!, find: () => new Promise<never>(() => {}) },
  });
  const silent = await withStore(t, home.directory, silence, { storeSilenceMs: 1 });
  const messages = Array.from({ length: 60 }, (_, turn) => [
    user(`Question ${turn}: ${"how deep is it there? ".repeat(10)}`),
    { role: "assistant", content: `Answer ${turn}: ${"seven fathoms. ".repeat(10)}` },
  ]).flat();
  const answer = await ask(silent, [...messages, user("And now?")]);
  assert.deepEqual([answer.status, answer.match, answer.view], [200, "passed", "compacted"]);
  assert.deepEqual(
    provider.requests.map(({ verdict }) => verdict.kind),
    ["answered"],
  );
});

test("off keeps nothing; observe keeps all, changes nothing, and counts", async (t) => {
  const { home, url, provider } = await beforeProvider(t, { stated: 1000 });
  const off = await ask(url, [user("one")], { headers: { "x-palimpsest-mode": "off" } });
  assert.deepEqual([off.status, off.match, off.thread], [200, "passed", null]);
  assert.deepEqual((await home.store.threads()).threads, []);
  const messages = Array.from({ length: 30 }, () => [
    user("how deep? ".repeat(30)),
    { role: "assistant", content: "seven. ".repeat(30) },
  ]).flat();
  const observed = await ask(url, [...messages, user("so?")], { headers: { "x-palimpsest-mode": "observe" } });
  assert.deepEqual([observed.match, observed.view], ["new", "verbatim"]);
  assert.equal((provider.requests.at(-1)!.body!["messages"] as unknown[]).length, 61);
  assert.match(observed.tokens ?? "", /^\d+;\d+;1000;\w+$/);
  assert.equal((await ask(url, [user("one")], { headers: { "x-palimpsest-mode": "maybe" } })).status, 400);
});

/** A provider whose answers the test writes itself. */
async function slow(t: TestContext) {
  const asked: ServerResponse[] = [];
  const waiting: ((response: ServerResponse) => void)[] = [];
  const server = createServer(async (incoming, outgoing) => {
    for await (const _ of incoming);
    outgoing.writeHead(200, { "content-type": "text/event-stream" });
    asked.push(outgoing);
    waiting.shift()?.(outgoing);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const config = `models:\n  - {name: gpt, provider: openai, model: gpt, base_url: "${base}", api_key: k}\n`;
  const next = () => new Promise<ServerResponse>((resolve) => waiting.push(resolve));
  // However long a client takes: its time to come back doesn't run out.
  return { asked, next, served: await running(t, { config, after: new ManualTime().after }) };
}

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

/** A client that may leave. */
function streaming(port: number, headers: Record<string, string> = {}) {
  const body = JSON.stringify({ model: "gpt", stream: true, messages: [user("one")] });
  const given = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)), ...headers };
  const outgoing = request({ host: "127.0.0.1", port, path: "/v1/chat/completions", method: "POST", headers: given });
  outgoing.on("error", () => {});
  outgoing.end(body);
  return outgoing;
}

test("a client that lost its connection and asks again gets the same answer, from one call", async (t) => {
  const { asked, next, served } = await slow(t);
  const called = next();
  const first = streaming(served.port);
  const [incoming] = (
    await Promise.all([
      once(first, "response"),
      called.then((response) => response.write(chunk({ role: "assistant", content: "first " }))),
    ])
  )[0];
  await once(incoming, "data");
  first.destroy();
  const second = streaming(served.port, { "x-stainless-retry-count": "1" });
  const [again] = await once(second, "response");
  assert.equal(again.headers["x-palimpsest-match"], "joined");
  asked[0]!.end(`${chunk({ content: "second" }, "stop")}data: [DONE]\n\n`);
  let heard = "";
  for await (const piece of again) heard += piece;
  assert.match(heard, /first .*second.*\[DONE\]/s);
  assert.equal(asked.length, 1);
  const { threads } = await served.home.store.threads();
  assert.deepEqual(
    threads.map(({ messages }) => messages),
    [2],
  );
});

test("a stream that breaks off is kept as far as it came", async (t) => {
  const { next, served } = await slow(t);
  const called = next();
  const outgoing = streaming(served.port);
  const response = await called;
  response.write(chunk({ role: "assistant", content: "half an ans" }));
  const [incoming] = await once(outgoing, "response");
  await once(incoming, "data");
  const closed = new Promise((resolve) => incoming.on("error", () => {}).on("close", resolve));
  response.destroy();
  await closed;
  const thread = incoming.headers["x-palimpsest-thread"] as string;
  const origins: unknown[] = [];
  for await (const { record } of served.home.store.records(thread, { kinds: ["message"] }))
    if (record.kind === "message") origins.push([record.origin, JSON.parse(record.body).content]);
  assert.deepEqual(origins, [
    ["user", "one"],
    ["aborted", "half an ans"],
  ]);
});

test("a prompt that is too long and can't be shortened, since the store fails, is refused in the provider's own words", async (t) => {
  const { home } = await beforeProvider(t, { window: 1000, stated: 16_000 });
  const url = await withStore(t, home.directory, (store) => ({
    ...store,
    append: (threadId, batch) =>
      batch.records.some(({ kind }) => kind !== "message") ? down() : store.append(threadId, batch),
  }));
  const answer = await ask(url, [user("long ".repeat(2000)), { role: "assistant", content: "two" }, user("three")]);
  assert.equal(answer.status, 400, answer.text);
  assert.match(answer.text, /context/);
});

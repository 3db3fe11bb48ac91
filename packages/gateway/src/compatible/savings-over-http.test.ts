// What a request is said to have saved, and what is kept of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createKey } from "palimpsest/internal/key-operations";
import { ask, CHAT, type Heard, MESSAGES, RESPONSES, talk, user } from "../../test/asking.ts";
import { type BeforeProvider, beforeProvider } from "../../test/before-provider.ts";
import type { CompatibleRequestFacts } from "../resources/requests.ts";

const respond = ({ index }: { readonly index: number }) => `Answer ${index}: ${"seven fathoms. ".repeat(12)}`;

async function requestsOf({ url }: Pick<BeforeProvider, "url">, query = "", headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/api/requests${query}`, { headers });
  assert.equal(response.status, 200);
  return (await response.json()) as { readonly requests: CompatibleRequestFacts[]; readonly next: string | null };
}

const numbers = ({ header }: Heard) => (header("tokens") ?? "").split(";").slice(0, 2).map(Number) as [number, number];

for (const [path, body, stated] of [
  [CHAT, {}, 5000],
  [MESSAGES, { system: "Be brief. ".repeat(2000) }, 10_000],
  [RESPONSES, { instructions: "Be brief. ".repeat(2000) }, 10_000],
] as const)
  test(`${path}: what all of it would count is within a tenth of what the provider counts of it, with a long system prompt too`, async (t) => {
    const served = await beforeProvider(t, { stated, respond });
    const { messages, heard } = await talk(served.url, 24, { path, body });
    const last = heard.at(-1)!;
    assert.equal(last.header("view"), "compacted");
    const [whole, sent] = numbers(last);
    assert.equal(Number(last.header("saved-tokens")), whole - sent);
    const headers = { "x-palimpsest-compaction": "off" };
    await ask(served.url, messages.slice(0, -1), { path, body, headers: { ...headers, "x-palimpsest-mode": "off" } });
    const { verdict } = served.provider.requests.at(-1)!;
    assert.ok(verdict.kind === "answered");
    assert.ok(Math.abs(whole / verdict.input - 1) < 0.1, `${whole} said, ${verdict.input} counted`);
  });

test("a long question goes out whole while it fits the window; one that doesn't fit says how much of it was sent", async (t) => {
  const served = await beforeProvider(t, { window: 200_000, stated: 100_000, respond });
  const fitting = await ask(served.url, [user("word ".repeat(60_000))]);
  assert.deepEqual([fitting.header("compaction"), fitting.header("shortened")], [null, null]);
  assert.equal(fitting.header("view"), "verbatim");
  const long = await ask(served.url, [user("word ".repeat(140_000))]);
  assert.match(long.header("compaction") ?? "", /^clamp;/);
  const [tokens, first, last] = (long.header("shortened") ?? "").split(";").map(Number);
  assert.ok(tokens! > 100_000 && first! > last! && first! + last! > 70_000, `${first} and ${last} of ${tokens}`);
  assert.match(JSON.stringify(served.provider.requests.at(-1)!.body), /word\s*\\n\[\.\.\. cut here \.\.\.\]/);
  const { requests } = await requestsOf(served);
  assert.deepEqual(requests[0]!.shortened, { seq: 1, tokens, first, last });
  assert.equal(requests[1]!.shortened, null);
});

test("mode observe passes everything on and says what would have been saved", async (t) => {
  const served = await beforeProvider(t, { stated: 4000, respond, config: "gateway: {mode: observe}\n" });
  const { heard } = await talk(served.url, 20);
  const [whole, sent] = numbers(heard.at(-1)!);
  assert.equal(whole, sent);
  assert.equal(heard[0]!.header("saved-tokens"), "0");
  assert.ok(Number(heard.at(-1)!.header("saved-tokens")) > 1000);
  assert.equal(served.provider.requests.at(-1)!.turns.length, 39);
  const metrics = await (await fetch(`${served.url}/metrics`)).text();
  assert.match(metrics, /^palimpsest_request_saved_tokens_total\{mode="observe"\} [1-9]/m);
});

test("a request is kept with what came, what went on, what the cache had, what it cost and saved; in pages, its thread's alone", async (t) => {
  const served = await beforeProvider(t, { window: 4000, respond, promptCache: "prefix" });
  const { heard } = await talk(served.url, 20);
  const other = await ask(served.url, [user("Another conversation")]);
  const thread = heard[0]!.header("thread")!;
  const first = await requestsOf(served, `?limit=15&thread=${thread}`);
  const rest = await requestsOf(served, `?limit=15&thread=${thread}&after=${first.next}`);
  const all = [...first.requests, ...rest.requests];
  assert.deepEqual([all.length, rest.next], [20, null]);
  assert.deepEqual(
    all.map(({ id }) => id),
    heard.map(({ headers }) => headers.get("x-request-id")).toReversed(),
  );
  const [newest] = all as [CompatibleRequestFacts];
  const { verdict, bytes } = served.provider.requests.at(-2)!;
  assert.ok(verdict.kind === "answered");
  assert.deepEqual(
    [newest.match, newest.view, newest.end, newest.status, newest.client.messages],
    ["extended", "compacted", "answered", 200, 39],
  );
  assert.deepEqual(newest.usage, {
    input: verdict.input,
    output: verdict.output,
    cacheRead: verdict.cached,
    cacheWrite: 0,
  });
  assert.equal(newest.upstream?.bytes, bytes);
  assert.ok(newest.saved.tokens > 0 && newest.cost === null, "no price is known at this address");
  assert.equal((await requestsOf(served)).requests[0]!.id, other.headers.get("x-request-id"));
  assert.doesNotMatch(JSON.stringify(all), /fathoms|deep/);
});

test("with prices in the configuration money is told too; a passed and a refused request are kept as such", async (t) => {
  const served = await beforeProvider(t, { respond: () => "ok", faults: { 1: { kind: "rate-limit" } } });
  const address = served.provider.url;
  const priced = await beforeProvider(t, {
    respond: () => "ok",
    config: `  - {name: priced, provider: openai, model: p, base_url: "${address}", api_key: k, pricing: {input: 2, output: 10}}\n`,
  });
  const body = { model: "priced" };
  const answered = await ask(priced.url, [user("one")], { body });
  assert.equal(answered.header("saved-cost"), "0.000000;USD");
  await ask(priced.url, [user("two")], { body });
  const headers = { "x-palimpsest-mode": "off" };
  await ask(priced.url, [user("three")], { body, headers });
  const { requests } = await requestsOf(priced);
  assert.deepEqual(
    requests.map(({ end, status }) => [end, status]),
    [
      ["refused", 429],
      ["answered", 200],
    ],
    "mode off keeps nothing",
  );
  assert.ok(requests[1]!.cost! > 0);
});

test("a second user sees nothing of the first one's requests", async (t) => {
  const served = await beforeProvider(t, { respond: () => "ok" });
  const now = new Date();
  const keyOf = async (name: string) => {
    const { key } = await createKey(served.home.store.keys!, { user: name, role: "user", expiresAt: null }, now);
    return { authorization: `Bearer ${key}` };
  };
  const [ada, bob] = [await keyOf("ada"), await keyOf("bob")];
  const answer = await ask(served.url, [user("one")], { headers: ada });
  const id = answer.headers.get("x-request-id");
  assert.deepEqual((await requestsOf(served, "", bob)).requests, []);
  const [own] = (await requestsOf(served, "", ada)).requests;
  assert.doesNotMatch(own!.client.hash!, /ada|key_|v1/, "a hash says nothing of whose it is");
  assert.equal((await fetch(`${served.url}/api/requests/${id}`, { headers: bob })).status, 404);
  assert.equal((await fetch(`${served.url}/api/requests/${id}`, { headers: ada })).status, 200);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, CHAT, MESSAGES, user } from "../../test/asking.ts";
import { world } from "../../test/examples.ts";
import { running, sent } from "../../test/running.ts";
import { createMetrics, createRegistry } from "./metrics.ts";

test("the text is as Prometheus reads it: counters, gauges, histograms whose buckets add up, labels escaped", async () => {
  const registry = createRegistry();
  registry.counter("a_total", "As.").add(2, { b: 'x"\\\n' });
  registry.gauge("g", "Now.", () => [[7], [1, { of: "q" }]]);
  const times = registry.histogram("h", "Times.", [1, 2]);
  for (const value of [0.5, 1, 1.5, 9]) times.observe(value);
  assert.deepEqual((await registry.text()).split("\n"), [
    "# HELP a_total As.",
    "# TYPE a_total counter",
    'a_total{b="x\\"\\\\\\n"} 2',
    "# HELP g Now.",
    "# TYPE g gauge",
    "g 7",
    'g{of="q"} 1',
    "# HELP h Times.",
    "# TYPE h histogram",
    'h_bucket{le="1"} 2',
    'h_bucket{le="2"} 3',
    'h_bucket{le="+Inf"} 4',
    "h_sum 12",
    "h_count 4",
    "",
  ]);
});

test("what an agent tells is counted: runs, tokens, the cache's share, compactions by rung and what they saved", async () => {
  const metrics = createMetrics(() => 0);
  let spent = 0;
  const meter = metrics.meter((tokens) => {
    spent += tokens;
  });
  meter.event({
    type: "step-end",
    step: 1,
    finish: "stop",
    usage: { input: 100, output: 10, cacheRead: 80, cacheWrite: 0 },
  });
  meter.event({ type: "run-end", end: { kind: "answered", finish: "stop" } });
  meter.tokens({ input: 100, output: 10, cacheRead: 0, cacheWrite: 0 });
  meter.compaction({ rung: "summarize", tokensBefore: 900, tokensAfter: 400 });
  metrics.queue("memory", () => 3);
  const text = await metrics.text();
  for (const line of [
    'palimpsest_tokens_total{direction="in"} 200',
    'palimpsest_tokens_total{direction="out"} 20',
    "palimpsest_cache_share 0.4",
    'palimpsest_runs_total{end="answered"} 1',
    'palimpsest_compactions_total{rung="summarize"} 1',
    "palimpsest_saved_tokens_total 500",
    'palimpsest_queue_length{queue="memory"} 3',
  ])
    assert.ok(text.includes(`${line}\n`), line);
  assert.equal(spent, 220);
});

test("an admin sees routes and statuses, and nothing that names a user, a thread or a key", async (t) => {
  const at = await world(t);
  await at.ask("GET", "/api/threads/t/context", "ada");
  await at.ask("GET", "/api/threads/t/context", "bob");
  await at.ask("POST", "/api/threads/t/compact", "ada", { body: { window: 3600 } });
  const { status, text } = await at.ask("GET", "/metrics", "ops");
  assert.equal(status, 200);
  const route = 'route="/api/threads/{id}/context",method="GET"';
  assert.ok(text.includes(`palimpsest_requests_total{${route},status="200"} 1`), text);
  assert.ok(text.includes(`palimpsest_requests_total{${route},status="404"} 1`));
  assert.match(text, /palimpsest_compactions_total\{rung="\w+"\} 1/);
  assert.match(text, /palimpsest_store_seconds_count\{operation="load"\} \d/);
  assert.match(text, /palimpsest_queue_length\{queue="memory"\} 0/);
  assert.doesNotMatch(text, /ada|bob|"t"|pal_|key_/);
  assert.equal((await at.ask("GET", "/metrics", "ada")).status, 403);
});

test("each protocol of /v1 has its own figures, with the time to the first byte; made-up paths share one name", async (t) => {
  const at = await running(t);
  await ask(at.url, [user("hi")], { path: CHAT, body: { stream: true } });
  await ask(at.url, [user("hi")], { path: MESSAGES });
  await ask(at.url, [], { path: MESSAGES, body: { messages: "none" } });
  await sent(at, "/v1/models");
  for (const path of ["/v1/made/up", "/v1/models/made-up", "/v1/files"]) await sent(at, path);
  const { text } = await sent(at, "/metrics");
  for (const line of [
    'palimpsest_requests_total{route="/v1/chat/completions",method="POST",status="200"} 1',
    'palimpsest_requests_total{route="/v1/messages",method="POST",status="200"} 1',
    'palimpsest_requests_total{route="/v1/messages",method="POST",status="400"} 1',
    'palimpsest_requests_total{route="/v1/models",method="GET",status="200"} 1',
    'palimpsest_requests_total{route="/v1/models/*",method="GET",status="404"} 1',
    'palimpsest_requests_total{route="/v1/*",method="GET",status="404"} 2',
    'palimpsest_first_byte_seconds_count{route="/v1/chat/completions"} 1',
    'palimpsest_first_byte_seconds_count{route="/v1/messages"} 1',
  ])
    assert.ok(text.includes(`${line}\n`), line);
});

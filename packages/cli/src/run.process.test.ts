import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openSqlite } from "palimpsest/stores";
import { desk } from "../test/binary.ts";

test("run streams the offline model's labelled answer, makes the thread and finds what was said in an earlier process", async (t) => {
  const { run, json } = desk(t);
  const first = await run("run", "The bridge opens in 1932.", "--thread", "bridge");
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stdout, /^\[offline\] .+\n$/s);
  const { code, document } = await json("run", "When did we say the bridge opens?", "--thread", "bridge");
  assert.equal(code, 0);
  assert.deepEqual([document["thread"], document["steps"]], ["bridge", 2]);
  assert.match(String(document["text"]), /\[offline\] Message #\d+ \(user\) says: "The bridge opens in 1932\."/);
  const { input, output } = document["usage"] as { input: number; output: number };
  assert.ok(input > 0 && output > 0);
});

test("view --request shows what a past turn was sent: system prompt, tools, parameters and messages, and says when there is none", async (t) => {
  const { run, json } = desk(t);
  await run("run", "The bridge opens in 1932.", "--thread", "bridge");
  await run("run", "And the tunnel in 1934.", "--thread", "bridge");
  const { code, document } = await json("view", "bridge", "--request", "1");
  assert.equal(code, 0);
  const { system, tools, messages, parameters } = document as Record<string, Record<string, unknown>[] & string>;
  assert.match(String(system), /Current date: /);
  assert.ok(tools!.some(({ name }) => name === "read_file"));
  assert.deepEqual([messages!.length, messages![0]!["role"]], [1, "user"], "as it was before the second turn");
  assert.match(JSON.stringify(parameters), /"provider":"offline/);
  assert.match((await run("view", "bridge", "--request", "1")).stdout, /The bridge opens in 1932/);
  const none = await json("view", "bridge", "--request", "9999");
  assert.deepEqual([none.code, (none.document["error"] as { code: string }).code], [1, "no-request"]);
});

test("run works in the thread's own files", async (t) => {
  const { run, json } = desk(t);
  await run("run", 'write "two eggs" to list.txt', "--thread", "t");
  const { document } = await json("run", "read list.txt", "--thread", "t");
  assert.match(String(document["text"]), /two eggs/);
});

test("run without --thread starts a new one and says how to go on; user and agent become the thread's", async (t) => {
  const { run, json } = desk(t);
  const { code, stderr } = await run("run", "Hello.", "--user", "ann", "--agent", "coder");
  assert.equal(code, 0);
  const [, threadId] = /--thread (\S+)/.exec(stderr) ?? [];
  assert.match(stderr, /--user ann/);
  assert.deepEqual((await json("threads")).document["threads"], [], "the default user has none");
  const missing = await json("view", threadId!);
  assert.deepEqual([missing.code, (missing.document["error"] as { code: string }).code], [1, "missing"]);
  assert.equal((await run("view", threadId!, "--user", "ann")).code, 0);
  assert.equal((await run("run", "Hello.", "--user", "")).code, 2);
  const all = await json("threads", "--all");
  assert.deepEqual(all.document, (await json("threads", "--user", "ann")).document);
  const { document } = all;
  const [only] = document["threads"] as Record<string, unknown>[];
  assert.deepEqual([only?.["id"], only?.["user"], only?.["agent"]], [threadId, "ann", "coder"]);
});

test("run refuses an empty prompt and a bad thread id as bad usage, and names the key that is missing", async (t) => {
  const { run, json, file } = desk(t);
  assert.equal((await run("run", " ")).code, 2);
  assert.equal((await run("run", "Hello.", "--thread", "../x")).code, 2);
  const home = file("keyless");
  mkdirSync(home);
  writeFileSync(`${home}/config.yaml`, "models:\n  - {name: big, provider: openai, model: gpt-5}\n");
  const { code, document } = await json("run", "Hello.", "--home", home);
  assert.equal(code, 1);
  assert.match(JSON.stringify(document["error"]), /OPENAI_API_KEY/);
});

test("run waits for a thread that a killed run still holds and says so; --wait 0 doesn't", async (t) => {
  const { run, start, home } = desk(t);
  await run("run", "Hello.", "--thread", "t");
  const store = openSqlite({ path: join(home, "palimpsest.db") });
  t.after(() => store.close());
  const held = await store.acquireLease("t", "a run that was killed", 600_000);
  const refused = await run("run", "Hello again.", "--thread", "t", "--wait", "0");
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /another run \(its lease was last renewed .* and ends .*--wait/);
  assert.ok(held.kind === "acquired");
  const waiting = start("run", "Hello again.", "--thread", "t");
  await waiting.told(/held by another run, or by one that was killed: waiting up to 35 s/);
  await store.releaseLease(held.lease);
  const waited = await waiting.ended;
  assert.equal(waited.code, 0, waited.stderr);
  assert.equal((await run("run", "Hello.", "--wait", "soon")).code, 2);
});

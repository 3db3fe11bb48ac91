// Finding what was said, and moving it between stores, through the real binary.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { desk } from "../test/binary.ts";
import { exchanges, importMessages } from "../test/conversations.ts";

interface Hit {
  readonly thread?: string;
  readonly seq: number;
  readonly score: number;
  readonly at: string;
  readonly role: string;
  readonly snippet: string;
}
const hitsOf = (document: Readonly<Record<string, unknown>>) => document["hits"] as readonly Hit[];

test("search finds what was said, hidden or not, in one thread and in all of a user's", async (t) => {
  const at = desk(t);
  await importMessages(at, "a", exchanges(40));
  await importMessages(at, "b", [{ role: "user", content: "The launch word is quicksilver." }]);
  for (const act of ["import", "compact", "undo"]) {
    if (act !== "import") assert.equal((await at.run(act, "a")).code, 0);
    const { code, document } = await at.json("search", "a", "src/parse-3.ts", "-k", "3");
    assert.equal(code, 0);
    const hits = hitsOf(document);
    assert.ok(hits.length > 0 && hits.length <= 3);
    const hit = hits.find(({ seq }) => seq === 7)!;
    assert.deepEqual([hit.role, typeof hit.score, hit.thread], ["user", "number", undefined]);
    assert.match(hit.snippet, /parse-3\.ts/);
    assert.ok(!Number.isNaN(Date.parse(hit.at)));
  }
  assert.deepEqual(
    hitsOf((await at.json("search", "--all", "quicksilver")).document).map(({ thread, seq }) => [thread, seq]),
    [["b", 1]],
  );
  assert.deepEqual(hitsOf((await at.json("search", "--all", "quicksilver", "--user", "other")).document), []);
  assert.match((await at.run("search", "b", "quicksilver")).stdout, /^#1 user .*\n {2}.*quicksilver/);
});

test("map lists what was talked about in order, and says what to do about the rest", async (t) => {
  const at = desk(t);
  await importMessages(at, "a", [
    { role: "user", content: "The harbor crane needs new ropes, oil, bolts, paint, a winch, a hook and a motor." },
    { role: "assistant", content: "Noted." },
    { role: "user", content: "Let's plan the trip to Oslo by train, with hotels, museums, ferries and hikes." },
  ]);
  const { stdout } = await at.run("map", "a");
  assert.match(stdout, /^1-2 [\d-]+: The harbor crane[^\n]*\n3 [\d-]+: Let's plan the trip to Oslo[^\n]*\n$/);
  const { document } = await at.json("map", "a", "harbor");
  assert.deepEqual([document["thread"], document["stretches"]], ["a", 2]);
  assert.match((await at.run("map", "nowhere")).stderr, /There is no thread "nowhere"/);
});

test("search gives the messages that hold the words, and not their neighbors, also as JSON", async (t) => {
  const at = desk(t);
  await importMessages(at, "pets", [
    { role: "user", content: "Let us begin." },
    { role: "assistant", content: "My cat is called Nimbus." },
    { role: "user", content: "That is a fine name." },
  ]);
  const hits = hitsOf((await at.json("search", "pets", "cat")).document);
  assert.deepEqual(
    hits.map(({ seq }) => seq),
    [2],
  );
  const { stdout } = await at.run("search", "pets", "cat");
  assert.deepEqual(stdout.match(/^#\d+/gm), ["#2"]);
});

test("a question without words, with operators, very long or in other scripts gets a clear answer", async (t) => {
  const at = desk(t);
  await importMessages(at, "a", [{ role: "user", content: 'Zürich 東京 مرحبا 🎉 AND "quoted" OR NEAR(x)' }]);
  for (const question of ["", "   ", "the of and"]) {
    const { code, document } = await at.json("search", "a", question);
    assert.deepEqual([code, document["hits"], document["reason"]], [0, [], "no-terms"], question);
  }
  for (const question of [
    '"',
    "a OR b*",
    "NEAR(x, 2)",
    "'; DROP TABLE records; --",
    "(((",
    "مرحبا",
    "東京",
    "🎉",
    "x ".repeat(50_000),
  ]) {
    const { code, document } = await at.json("search", "a", question);
    assert.equal(code, 0, question.slice(0, 20));
    assert.ok(Array.isArray(document["hits"]));
  }
  assert.equal(hitsOf((await at.json("search", "a", "東京")).document)[0]?.seq, 1);
  assert.equal((await at.run("search", "nobody", "x")).code, 1);
  assert.equal((await at.run("search", "a")).code, 2);
  assert.equal((await at.run("search", "--all", "a", "b")).code, 2);
  assert.equal((await at.run("search", "a", "x", "-k", "0")).code, 2);
});

test("store copy brings every thread over, once, and --store and store.url use the copy", async (t) => {
  const at = desk(t);
  await importMessages(at, "a", exchanges(40));
  await at.run("compact", "a");
  await at.run("fork", "a", "--at", "4", "--as", "b");
  const copy = at.file("copy.db");
  const own = join(at.home, "palimpsest.db");
  const { code, document } = await at.json("store", "copy", own, copy);
  assert.deepEqual([code, document["copied"], document["failed"]], [0, 2, []]);
  const again = (await at.json("store", "copy", own, copy)).document;
  assert.deepEqual([again["copied"], again["present"], again["records"]], [0, 2, 0]);
  assert.deepEqual(
    (await at.json("view", "a", "--store", copy)).document["messages"],
    (await at.json("view", "a")).document["messages"],
  );
  await at.run("threads", "delete", "b", "--store", copy);
  assert.equal((await at.run("verify", "b", "--store", copy)).code, 1);
  assert.equal((await at.run("verify", "b")).code, 0);
  writeFileSync(join(at.home, "config.yaml"), `store: { url: ${JSON.stringify(copy)} }\n`);
  assert.equal((await at.run("verify", "b")).code, 1);
  assert.equal((await at.run("doctor")).code, 0);
});

test("a store that isn't there, can't be reached or has no driver is named without its password", async (t) => {
  const at = desk(t);
  const nowhere = at.file("nowhere.db");
  assert.match((await at.run("store", "copy", nowhere, at.file("b.db"))).stderr, /no database at .*nowhere\.db/);
  for (const more of [[], ["--all"]]) {
    const { code, stderr } = await at.run("threads", ...more, "--store", nowhere);
    assert.deepEqual([code, /There is no store at .*nowhere\.db\./.test(stderr)], [1, true]);
  }
  assert.ok(!existsSync(nowhere));
  assert.equal((await at.run("store", "copy", nowhere, nowhere)).code, 2);
  for (const url of ["postgres://me:hidden-word@127.0.0.1:1/none", "mysql://me:hidden-word@127.0.0.1/none"]) {
    const { code, stdout, stderr } = await at.run("threads", "--json", "--store", url);
    assert.equal(code, 1);
    assert.doesNotMatch(stdout + stderr, /hidden-word/);
    assert.doesNotMatch(stderr, /Unexpected error/);
  }
});

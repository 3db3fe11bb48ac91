import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { desk } from "../test/binary.ts";

interface Shown {
  readonly facts: readonly { readonly id: string; readonly content: string; readonly confidence: number }[];
  readonly userContext: Readonly<Record<string, string>>;
}

test("memory is added, shown, searched, edited, forgotten and brought back from the command line", async (t) => {
  const { json, run, home } = desk(t);
  assert.deepEqual((await json("memory", "show")).document["facts"], []);
  const { document } = await json(
    "memory",
    "add",
    "User likes green tea",
    "--category",
    "preference",
    "--confidence",
    "0.9",
  );
  const { id } = document["fact"] as { id: string };
  const stored = JSON.parse(readFileSync(join(home, "memory.json"), "utf8"));
  assert.deepEqual([stored.facts[0].content, stored.facts[0].source], ["User likes green tea", "manual"]);
  assert.equal((await json("memory", "add", "the user likes green tea.")).document["kind"], "known");
  const found = (await json("memory", "search", "tea")).document["facts"] as { id: string }[];
  assert.deepEqual(
    found.map((fact) => fact.id),
    [id],
  );
  assert.equal((await run("memory", "edit", id, "User likes black tea")).code, 0);
  assert.equal((await run("memory", "edit", "userContext.topOfMind", "Writing a book")).code, 0);
  const shown = (await json("memory", "show")).document as unknown as Shown;
  assert.deepEqual(
    [shown.facts[0]!.content, shown.userContext["topOfMind"]],
    ["User likes black tea", "Writing a book"],
  );
  assert.match((await run("memory", "show")).stdout, /^userContext\.topOfMind: Writing a book$/m);
  assert.deepEqual((await json("memory", "forget", id)).document["forgotten"], [id]);
  assert.deepEqual(((await json("memory", "show")).document as unknown as Shown).facts, []);
  assert.equal((await run("memory", "undo")).code, 0);
  assert.equal(((await json("memory", "show")).document as unknown as Shown).facts[0]!.content, "User likes black tea");
  const { changes } = (await json("memory", "history")).document as { changes: { kind: string }[] };
  assert.deepEqual(
    changes.map(({ kind }) => kind),
    ["add", "edit", "rewrite", "forget", "undo"],
  );
});

test("each user and agent has a memory of its own, whatever the user's id; an agent's name that can't be a path is bad usage", async (t) => {
  const { json, run } = desk(t);
  await run("memory", "add", "User likes tea");
  await run("memory", "add", "User likes jazz", "--user", "Ann");
  await run("memory", "add", "User writes Rust", "--agent", "coder");
  const contents = async (...args: string[]) =>
    ((await json("memory", "show", ...args)).document as unknown as Shown).facts.map(({ content }) => content);
  assert.deepEqual(await contents(), ["User likes tea"]);
  assert.deepEqual(await contents("--user", "Ann"), ["User likes jazz"]);
  assert.deepEqual(await contents("--user", "ann"), [], "case is kept");
  await run("memory", "add", "User likes fado", "--user", "auth0|../x");
  assert.deepEqual(await contents("--user", "auth0|../x"), ["User likes fado"]);
  assert.deepEqual(await contents("--agent", "CODER"), ["User likes tea", "User writes Rust"]);
  for (const name of ["../x", "CON", "a".repeat(65), ""]) {
    const { code, stderr } = await run("memory", "show", "--agent", name);
    assert.equal(code, 2, name);
    assert.match(stderr, /name/);
  }
  assert.equal((await run("memory", "show", "--user", "")).code, 2);
});

test("a memory.json of another tool is imported, and exported in its layout", async (t) => {
  const { json, run, file } = desk(t);
  const theirs = file(
    "theirs.json",
    JSON.stringify({
      user: { workContext: { summary: "Baker" } },
      facts: [{ id: "fact_1", content: "Likes rye", confidence: 0.9 }],
    }),
  );
  assert.deepEqual((await json("memory", "import", theirs)).document, { imported: 1, known: 0, sections: 1 });
  const exported = JSON.parse((await run("memory", "export")).stdout);
  assert.deepEqual(Object.keys(exported).slice(0, 3), ["userContext", "history", "facts"]);
  assert.equal("changes" in exported, false);
  for (const [name, text] of [
    ["list.json", "[]"],
    ["half.json", '{"facts": ['],
    ["empty.json", ""],
  ] as const) {
    assert.equal((await run("memory", "import", file(name, text))).code, 1);
  }
  assert.equal((await run("memory", "import", file("missing.json"))).code, 1);
});

test("what can't be done says so: an unknown fact, nothing to undo, a useless confidence, an empty text", async (t) => {
  const { run, json } = desk(t);
  assert.match((await run("memory", "forget", "nope")).stderr, /no fact "nope"/);
  assert.match((await run("memory", "edit", "nope", "x y")).stderr, /no fact "nope"/);
  assert.equal(((await json("memory", "undo")).document["error"] as { code: string }).code, "nothing");
  assert.equal((await run("memory", "add", "x", "--confidence", "7")).code, 2);
  assert.equal((await run("memory", "add", "...")).code, 1);
  assert.equal((await run("memory", "add", "x ".repeat(400))).code, 1);
  assert.match((await run("memory")).stderr, /"memory" needs one of: memory show/);
  assert.match((await run("memory", "edit", "userContext.topOfMin", "x")).stderr, /there are .*userContext\.topOfMind/);
  assert.match((await run("memory", "add", "User", "likes", "tea")).stderr, /"likes" is one argument too many.*quotes/);
});

test("help on memory lists its commands, and a fact is named by the beginning of its id where only one has it", async (t) => {
  const { run, file } = desk(t);
  for (const asked of [
    ["memory", "--help"],
    ["help", "memory"],
  ]) {
    const { code, stdout } = await run(...asked);
    assert.equal(code, 0);
    assert.match(stdout, /memory forget ID\.\.\. +Forget facts/);
    assert.doesNotMatch(stdout, /threads delete/);
  }
  const facts = ["fact_10", "fact_11", "other_1"].map((id) => ({ id, content: `Likes ${id}`, confidence: 1 }));
  await run("memory", "import", file("facts.json", JSON.stringify({ facts })));
  assert.match((await run("memory", "forget", "fact_1")).stderr, /2 facts begin with "fact_1"/);
  assert.match((await run("memory", "forget", "oth")).stderr, /no fact "oth"/);
  assert.match((await run("memory", "edit", "othe", "Likes rye")).stdout, /Changed other_1: Likes rye/);
  assert.match((await run("memory", "forget", "other", "fact_10")).stdout, /Forgot fact_10[\s\S]*Forgot other_1/);
});

test("a memory file that can't be read is moved aside and reported", async (t) => {
  const { run, home } = desk(t);
  await run("memory", "add", "User likes tea");
  writeFileSync(join(home, "memory.json"), "{half");
  const { code, stderr } = await run("memory", "show");
  assert.equal(code, 1);
  assert.match(stderr, /moved to .*memory\.json\.corrupt-/);
  const { code: bad, stdout } = await run("doctor");
  assert.equal(bad, 1);
  assert.match(stdout, /BAD {2}memory files: .*memory\.json\.corrupt-\w+; .*repair it and move it back/);
});

test("what memory gave up is shown by doctor with the reason, and learned by memory retry when that is mended", async (t) => {
  const { run, json, home } = desk(t);
  assert.equal((await run("memory", "retry")).stdout, "Nothing was waiting to be learned.\n");
  mkdirSync(home);
  const config = join(home, "config.yaml");
  const broken = "{name: away, provider: openai, model: away, api_key: x, base_url: 'http://127.0.0.1:9/v1'}";
  const offline = "{name: offline, provider: offline, model: offline}";
  writeFileSync(config, `models: [${offline}, ${broken}]\nmemory: {model_name: away}\n`);
  assert.equal((await run("run", "I like green tea", "--thread", "one")).code, 0);
  for (const attempts of [2, 3, 4, 5]) {
    const { code, document } = await json("memory", "retry");
    const [left] = document["left"] as { thread: string; attempts: number; state: string }[];
    assert.deepEqual([code, left!.thread, left!.attempts], [1, "one", attempts]);
    assert.equal(left!.state, attempts === 5 ? "dead" : "waiting");
  }
  assert.match((await run("doctor")).stdout, /BAD {2}memory jobs: .*given up: one \(5 attempts: .*memory retry/);
  writeFileSync(config, `models: [${offline}]\n`);
  const { code, document } = await json("memory", "retry");
  assert.deepEqual([code, document], [0, { revived: 1, learned: ["one"], left: [] }]);
  assert.match((await run("memory", "show")).stdout, /green tea/);
});

test("a whole story with the offline model: learn, restart, use, correct, forget, undo", async (t) => {
  const { json, run } = desk(t);
  const live = async () =>
    ((await json("memory", "show")).document["facts"] as { id: string; content: string; validTo?: string }[]).filter(
      ({ validTo }) => validTo === undefined,
    );
  const said = await run("run", "My name is Ada Lovelace and I like green tea.", "--thread", "one", "--verbose");
  assert.equal(said.code, 0, said.stderr);
  assert.match(said.stderr, /Queued conversation for one \(2 messages\)/);
  assert.match(said.stderr, /Debouncing update for one \(30s wait\)/);
  assert.match(said.stderr, /Processing update for one/);
  assert.match(said.stderr, /Extracted \d new facts \(confidence: 0\.90/);
  assert.match(said.stderr, /Memory persisted to .*memory\.json/);
  assert.ok((await live()).some(({ content }) => /green tea/.test(content)));
  const used = await run("run", "Which tea do I like?", "--thread", "two", "--verbose");
  assert.match(used.stderr, /Injected stable memory for two/);
  assert.match(used.stdout, /green tea/);
  await run("run", "I don't like green tea", "--thread", "two");
  const tea = (await live()).filter(({ content }) => /green tea/.test(content));
  assert.equal(tea.length, 1);
  assert.match(tea[0]!.content, /dislikes/);
  assert.equal((await run("memory", "forget", tea[0]!.id)).code, 0);
  assert.ok(!(await live()).some(({ content }) => /green tea/.test(content)));
  assert.equal((await run("memory", "undo")).code, 0);
  assert.ok((await live()).some(({ content }) => /dislikes green tea/.test(content)));
});

test("an id that was used before brings nothing along: what is said there is learned, and stays when the old is erased", async (t) => {
  const { json, run } = desk(t);
  const facts = async () => ((await json("memory", "show")).document as unknown as Shown).facts;
  assert.equal((await run("run", "I live in Oslo.", "--thread", "t")).code, 0);
  const [oslo] = await facts();
  assert.match(oslo!.content, /Oslo/);
  assert.equal((await run("threads", "delete", "t")).code, 0);
  assert.equal((await run("run", "I work at Siemens.", "--thread", "t")).code, 0);
  assert.ok(
    (await facts()).some(({ content }) => /Siemens/.test(content)),
    "learned at once",
  );
  const { code, document } = await json("memory", "forget", oslo!.id, "--redact");
  assert.deepEqual([code, document["redacted"]], [0, []]);
  const replayed = await run("replay", "t");
  assert.match(replayed.stdout, /I work at Siemens/);
});

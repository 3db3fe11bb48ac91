// The commands on threads, through the real binary.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync, readSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { BINARY, CLEAN, type Desk, desk } from "../test/binary.ts";
import { importMessages } from "../test/conversations.ts";

const said = ["Which river runs through Vienna?", "The Danube.", "And through Prague?", "The Vltava."];

/** A thread `a` of four messages: records 1 to 4, its title as record 5, the import's receipt as record 6. */
async function deskWithThread(t: TestContext): Promise<Desk> {
  const at = desk(t);
  const lines = said.map((content, index) => JSON.stringify({ role: index % 2 ? "assistant" : "user", content }));
  const { code, stderr } = await at.run("import", at.file("chat.jsonl", lines.join("\n")), "--thread", "a");
  assert.equal(code, 0, stderr);
  return at;
}

test("threads lists what is there, the newest first, with a fork's parent", async (t) => {
  const at = await deskWithThread(t);
  await at.run("fork", "a", "--at", "2", "--as", "b");
  const { document } = await at.json("threads");
  const threads = document["threads"] as { id: string; messages: number; parent: string | null; title: unknown }[];
  assert.deepEqual(threads.map(({ id, messages, parent, title }) => [id, messages, parent, title]).sort(), [
    ["a", 4, null, "Which river runs through Vienna?"],
    ["b", 2, "a", null],
  ]);
  assert.match((await at.run("threads")).stdout, /^thread +messages +changed/);
});

test("view shows what would be sent, and says that nothing was simulated", async (t) => {
  const at = await deskWithThread(t);
  const { document } = await at.json("view", "a");
  assert.deepEqual([document["thread"], document["dialect"], document["simulated"]], ["a", "openai", false]);
  assert.ok(Number(document["tokens"]) > 20);
  assert.deepEqual(
    (document["messages"] as { content: string }[]).map(({ content }) => content),
    said,
  );
});

test("view says once what it repaired, and how often", async (t) => {
  const at = desk(t);
  const turns = Array.from({ length: 1200 }, (_, n) => ({ role: "user", content: `Word ${n} of a long list` }));
  await importMessages(at, "a", [
    ...turns.slice(0, 1199),
    ...Array(3).fill({ role: "user", content: "" }),
    turns[1199]!,
  ]);
  const { stderr } = await at.run("view", "a");
  assert.match(stderr, /^repaired: empty-dropped, a message with nothing in it \(3 times\)$/m);
  assert.equal(stderr.match(/empty-dropped/g)?.length, 1);
  assert.match(stderr, /\d+,\d{3} tokens \(estimated\)/);
});

test("[F23] context's parts sum exactly to its total, which is the view's count, system prompt and tools included", async (t) => {
  const at = await deskWithThread(t);
  const tools = [{ name: "look", description: "Looks it up.", input_schema: { type: "object" } }];
  const request = {
    system: "Be brief. ".repeat(50),
    tools,
    messages: said.map((content) => ({ role: "user", content })),
  };
  await at.run("import", at.file("request.json", JSON.stringify(request)), "--thread", "b");
  for (const threadId of ["a", "b"]) {
    const { document } = await at.json("context", threadId, "--window", "1000");
    assert.deepEqual([document["thread"], document["window"]], [threadId, 1000]);
    const parts = document["parts"] as Record<string, number>;
    const sum = Object.values(parts).reduce((total, tokens) => total + tokens, 0);
    assert.equal(sum, document["total"]);
    assert.equal((await at.json("view", threadId)).document["tokens"], document["total"]);
    if (threadId === "b") assert.ok(parts["base"]! > 100 && parts["definitions"]! > 10);
  }
});

test("context draws a bar of 80 columns without color outside of a terminal", async (t) => {
  const at = await deskWithThread(t);
  const { stdout, stderr } = await at.run("context", "a", "--window", "200");
  const lines = stdout.split("\n");
  assert.match(lines[0]!, /^a: \d+ of 200 tokens/);
  assert.match(lines[1]!, /^\[.{78}\]$/);
  assert.ok(lines.every((line) => line.length <= 80));
  assert.ok(!stdout.includes("\u001b"));
  assert.equal(stderr, "");
});

test("verify names a changed body, a deleted last record and two swapped records; a redaction passes and is reported", async (t) => {
  const tampering = {
    1: "UPDATE records SET body = replace(body, 'Vienna', 'Berlin') WHERE body LIKE '%Vienna%'",
    6: "DELETE FROM records WHERE rowid = (SELECT max(rowid) FROM records)",
    2: `UPDATE records SET (header, body, body_hash, hash) = (SELECT header, body, body_hash, hash FROM records o
        WHERE o.rowid = 5 - records.rowid) WHERE rowid IN (2, 3)`,
  };
  for (const [bad, sql] of Object.entries(tampering)) {
    const at = await deskWithThread(t);
    assert.equal((await at.run("verify", "a")).code, 0);
    inside(at, (database) => database.exec(sql));
    const { code, document } = await at.json("verify", "a");
    assert.equal(code, 1, sql);
    assert.equal(document["ok"], false);
    assert.equal((document["firstBad"] as { seq: number }).seq, Number(bad), JSON.stringify(document));
    assert.match((await at.run("verify", "a")).stderr, new RegExp(`record ${bad}\\b`));
  }
  const at = await deskWithThread(t);
  const { document } = await at.json("redact", "a", "1");
  assert.deepEqual([document["thread"], document["redacted"]], ["a", 1]);
  const verified = await at.json("verify", "a");
  assert.deepEqual(
    [verified.code, verified.document["ok"], verified.document["redacted"]],
    [0, true, [1, 5]],
    "the message, and the title made of its words",
  );
  assert.ok(!(await at.run("replay", "a", "--raw")).stdout.includes("Vienna"));
  assert.ok(!(await at.run("threads")).stdout.includes("Vienna"), "the title was made of the erased words");
  assert.equal((await at.run("redact", "a", "1")).code, 0, "again: nothing is left to do");
});

test("a fork whose files would be more than the quota is refused and leaves no thread", async (t) => {
  const at = await deskWithThread(t);
  mkdirSync(join(at.home, "threads/a/workspace"), { recursive: true });
  writeFileSync(join(at.home, "threads/a/workspace/big"), "x".repeat(20_000));
  const config = ["--config", at.file("config.yaml", "limits: {workspace_megabytes: 0.01}\n")];
  const { code, stderr } = await at.run("fork", "a", "--at", "1", "--as", "b", ...config);
  assert.deepEqual([code, /Not forked: .*remove some first/.test(stderr)], [1, true], stderr);
  assert.equal((await at.run("view", "b")).code, 1);
  assert.equal((await at.run("fork", "a", "--at", "1", "--as", "b")).code, 0);
});

test("fork shares the past and goes its own way; names are found, taken ones and ends are refused", async (t) => {
  const at = await deskWithThread(t);
  assert.deepEqual((await at.json("fork", "a", "--at", "2")).document, { thread: "a-fork-2", parent: "a", at: 2 });
  assert.equal((await at.json("fork", "a", "--at", "2")).document["thread"], "a-fork-2-2");
  assert.equal((await at.run("replay", "a-fork-2", "--raw")).stdout.trim().split("\n").length, 2);
  assert.equal((await at.run("verify", "a-fork-2")).code, 0);
  // A fork of a fork is named after the thread that both come from.
  assert.equal((await at.json("fork", "a-fork-2", "--at", "1")).document["thread"], "a-fork-1");
  assert.match((await at.run("fork", "a", "--at", "2", "--as", "a")).stderr, /exists already/);
  assert.match((await at.run("fork", "a", "--at", "99")).stderr, /no record 99/);
  assert.equal((await at.run("fork", "a", "--at", "2", "--as", "../b")).code, 2);
});

test("[F41] a deleted thread is gone, and its forks keep what they shared", async (t) => {
  const at = await deskWithThread(t);
  await at.run("fork", "a", "--at", "4", "--as", "b");
  assert.deepEqual((await at.json("threads", "delete", "a")).document, { thread: "a", deleted: true });
  assert.equal((await at.run("replay", "a")).code, 1);
  assert.equal((await at.run("replay", "b", "--raw")).stdout.trim().split("\n").length, 4);
  assert.equal((await at.run("verify", "b")).code, 0);
});

test("pin and unpin a message; a record that isn't one is refused", async (t) => {
  const at = await deskWithThread(t);
  assert.deepEqual((await at.json("pin", "a", "1")).document, { thread: "a", pinned: 1, on: true });
  assert.deepEqual((await at.json("pin", "a", "1", "--off")).document, { thread: "a", pinned: 1, on: false });
  assert.match((await at.run("pin", "a", "5")).stderr, /Record 5 of "a" is not a message/);
  assert.match((await at.run("pin", "a", "999")).stderr, /Record 999/);
});

test("[F42] replay shows everything with its seq and is not fooled by escape sequences", async (t) => {
  const at = await deskWithThread(t);
  const { stdout } = await at.run("replay", "a");
  assert.match(stdout, /#1 user\n {2}Which river/);
  assert.deepEqual((await at.json("replay", "a")).document["seqs"], [1, 2, 3, 4]);
  const nasty = JSON.stringify({ role: "user", content: "\u001b[2Jgone\u202e" });
  await at.run("import", at.file("nasty.jsonl", nasty), "--thread", "n");
  const shown = (await at.run("replay", "n")).stdout;
  assert.deepEqual([shown.includes("gone"), shown.includes("\u001b"), shown.includes("\u202e")], [true, false, false]);
  assert.equal((await at.run("replay", "n", "--raw")).stdout, `${nasty}\n`);
});

test("doctor finds a sound home sound, repairs a wrong head, and reports a bad configuration", async (t) => {
  const at = await deskWithThread(t);
  const checks = async (...args: string[]) => {
    const { code, document } = await at.json("doctor", ...args);
    return { code, checks: document["checks"] as { name: string; ok: boolean; detail: string }[] };
  };
  assert.equal((await checks("--rebuild")).code, 0);
  inside(at, (database) => database.exec("UPDATE heads SET head = replace(head, '\"pins\":[]', '\"pins\":[1]')"));
  const wrong = await checks("--rebuild");
  assert.equal(wrong.code, 1);
  assert.match(wrong.checks.find(({ name }) => name === "head of a")!.detail, /pins/);
  assert.equal((await checks("--rebuild")).code, 0);
  writeFileSync(join(at.home, "config.yaml"), "sumarization: {}\n");
  const config = (await checks()).checks.find(({ name }) => name === "config")!;
  assert.deepEqual([config.ok, /summarization/.test(config.detail)], [false, true]);
});

test("a locked, a newer and a damaged database are one clear sentence each, and stay as they are", async (t) => {
  const at = await deskWithThread(t);
  const lock = new DatabaseSync(join(at.home, "palimpsest.db"));
  lock.exec("BEGIN EXCLUSIVE");
  const locked = await at.run("pin", "a", "1");
  lock.exec("ROLLBACK");
  lock.close();
  assert.deepEqual([locked.code, /is locked by another process/.test(locked.stderr)], [1, true]);
  inside(at, (database) => database.exec("INSERT INTO migrations (version, applied) VALUES (999, 'tomorrow')"));
  const newer = await at.run("threads");
  assert.deepEqual([newer.code, /update palimpsest/.test(newer.stderr)], [1, true]);
  inside(at, (database) => database.exec("DELETE FROM migrations WHERE version = 999"));
  damage(join(at.home, "palimpsest.db"));
  const damaged = await at.run("replay", "a");
  assert.equal(damaged.code, 1);
  assert.match(damaged.stderr, /^palimpsest: .*(damaged|not a database|can't be read)/m);
  assert.doesNotMatch(damaged.stderr, /^\s+at /m);
});

test("a disk that takes no more leaves nothing half-written", async (t) => {
  const at = await deskWithThread(t);
  // Long bodies are compressed, which must not make this one fit.
  const content = randomBytes(2_250_000).toString("base64");
  const file = at.file("big.jsonl", `${JSON.stringify({ role: "user", content })}\n`);
  const full = await shell(
    at,
    `trap "" XFSZ; ulimit -f 1000; "$NODE" --conditions=palimpsest-source "$BINARY" import "${file}" --thread b`,
  );
  assert.equal(full.code, 1);
  assert.match(full.stderr, /^palimpsest: .*(disk|room)/);
  assert.equal((await at.run("replay", "b", "--raw")).stdout, "");
  assert.equal((await at.run("verify", "a")).code, 0);
  assert.equal((await at.run("import", file, "--thread", "b")).code, 0);
});

test("a reader that goes away ends the program quietly", async (t) => {
  const at = await deskWithThread(t);
  const long = JSON.stringify({ role: "user", content: "x".repeat(2_000_000) });
  await at.run("import", at.file("long.jsonl", `${long}\n${long}\n`), "--thread", "b");
  const { stdout, stderr } = await shell(
    at,
    `"$NODE" --conditions=palimpsest-source "$BINARY" replay b --raw | head -c 10`,
  );
  assert.deepEqual([stdout.length, stderr], [10, ""]);
});

test("Ctrl-C ends a command that waits for its reader, without a stack trace", async (t) => {
  const at = await deskWithThread(t);
  const long = JSON.stringify({ role: "user", content: "x".repeat(2_000_000) });
  await at.run("import", at.file("long.jsonl", `${long}\n${long}\n`), "--thread", "b");
  const child = spawn(
    process.execPath,
    ["--conditions=palimpsest-source", BINARY, "replay", "b", "--raw", "--home", at.home],
    { env: CLEAN },
  );
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk;
  });
  await new Promise((resolve) => child.stdout.once("readable", resolve));
  child.kill("SIGINT");
  const code = await new Promise((resolve) => child.once("exit", resolve));
  child.stdout.destroy();
  assert.equal(code, 130);
  assert.doesNotMatch(stderr, /^\s+at /m);
});

function inside(at: Desk, work: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(join(at.home, "palimpsest.db"));
  work(database);
  database.close();
}

/** Overwrites every page but the first with noise. */
function damage(path: string): void {
  const file = openSync(path, "r+");
  const page = Buffer.alloc(1024, 0xa5);
  for (let at = 1024; readSync(file, Buffer.alloc(1), 0, 1, at) === 1; at += 1024) writeSync(file, page, 0, 1024, at);
  closeSync(file);
}

function shell(at: Desk, script: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const env = { ...CLEAN, NODE: process.execPath, BINARY, PALIMPSEST_HOME: at.home };
    const child = spawn("sh", ["-c", script], { env });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk;
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk;
    });
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

test("view and context of a thread with a hole name it and end with 1; view still shows what is left", async (t) => {
  const at = await deskWithThread(t);
  const database = new DatabaseSync(join(at.home, "palimpsest.db"));
  database.prepare("delete from records where seq = 2").run();
  database.close();
  const shown = await at.run("view", "a");
  assert.equal(shown.code, 1);
  assert.match(shown.stderr, /record 2 is missing.*verify a/);
  assert.match(shown.stdout, /And through Prague/);
  const { code, document } = await at.json("context", "a");
  assert.equal(code, 1);
  assert.equal((document["damage"] as { seq: number }).seq, 2);
});

test("a home that is a file is named as one, by commands that read and by those that write", async (t) => {
  const at = desk(t);
  const home = at.file("notes.txt", "not a folder");
  for (const args of [["threads"], ["view", "a"], ["run", "Hello."], ["search", "a", "river"], ["doctor"]]) {
    const { code, stderr, stdout } = await at.run(...args, "--home", home);
    assert.equal(code, 1, args[0]);
    assert.match(stderr + stdout, /notes\.txt is a file, not a directory/, args[0]);
  }
});

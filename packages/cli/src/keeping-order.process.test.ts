// The commands that keep a home in order, through the real binary: export, rename, delete, backup, vacuum, verify.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { startProviderServer } from "@palimpsest/testing";
import { BINARY, CLEAN, type Desk, desk } from "../test/binary.ts";
import { AS_TERMINAL } from "../test/terminal.ts";

async function said(at: Desk, ...threads: readonly string[]): Promise<void> {
  for (const threadId of threads) {
    const { code, stderr } = await at.piped(
      [JSON.stringify({ role: "user", content: `About ${threadId}.` })],
      "import",
      "-",
      "--thread",
      threadId,
    );
    assert.equal(code, 0, stderr);
  }
}

test("import reads a pipe, and export gives back what import reads", async (t) => {
  const at = desk(t);
  await said(at, "a");
  const { code, stdout } = await at.run("export", "a", "--as", "jsonl");
  assert.equal(code, 0);
  assert.equal((await at.run("import", at.file("a.jsonl", stdout), "--thread", "b")).code, 0);
  assert.equal((await at.run("replay", "a", "--raw")).stdout, (await at.run("replay", "b", "--raw")).stdout);
  const page = at.file("a.html");
  assert.equal((await at.run("export", "a", "--out", page)).code, 0);
  assert.match(readFileSync(page, "utf8"), /^<!doctype html>.*About a\./s);
  assert.equal(statSync(page).mode & 0o077, 0);
  assert.equal((await at.run("export", "a", "--out", page)).code, 1, "never over a file");
  assert.match((await at.run("export", "a")).stdout, /^# .*\n\n## user · #1/);
  assert.equal((await at.run("export", "a", "--as", "pdf")).code, 2);
});

test("threads rename changes the title and nothing else", async (t) => {
  const at = desk(t);
  await said(at, "a");
  assert.equal((await at.run("threads", "rename", "a", "  The   first one ")).code, 0);
  const [row] = (await at.json("threads")).document["threads"] as { title: string; messages: number }[];
  assert.deepEqual([row?.title, row?.messages], ["The first one", 1]);
  assert.equal((await at.run("verify", "a")).code, 0);
  assert.equal((await at.run("threads", "rename", "a", " ")).code, 2);
  assert.equal((await at.run("threads", "rename", "nobody", "x")).code, 1);
});

test("threads delete takes several, patterns and an age; many need --yes outside of a terminal", async (t) => {
  const at = desk(t);
  await said(at, "ft-1", "ft-2", "ft-3", "keep", "gone");
  const ids = async () =>
    ((await at.json("threads")).document["threads"] as { id: string }[]).map(({ id }) => id).sort();
  const refused = await at.run("threads", "delete", "ft-*");
  assert.deepEqual(
    [refused.code, /delete 3 threads for good: add --yes/.test(refused.stderr)],
    [2, true],
    refused.stderr,
  );
  assert.deepEqual((await at.json("threads", "delete", "ft-*", "--yes")).document, {
    deleted: ["ft-3", "ft-2", "ft-1"],
    kept: [],
  });
  assert.deepEqual((await at.json("threads", "delete", "gone")).document, { thread: "gone", deleted: true });
  assert.deepEqual(await ids(), ["keep"]);
  assert.equal((await at.run("threads", "delete", "keep", "nobody", "--yes")).code, 1, "a name must be there");
  assert.equal((await at.run("threads", "delete")).code, 2);
  const none = await at.json("threads", "delete", "--older-than", "1", "--yes");
  assert.deepEqual(none.document, { deleted: [], kept: [] });
  assert.deepEqual((await at.json("threads", "--older-than", "1")).document["threads"], []);
  assert.equal((await at.run("threads", "delete", "--older-than", "0", "--yes")).code, 0);
  assert.deepEqual(await ids(), []);
});

test("threads shows minutes of the person's clock and, when asked, sizes; without threads it says whose it looked for", async (t) => {
  const at = desk(t);
  await said(at, "a");
  const { stdout } = await at.run("threads", "--sizes");
  assert.match(stdout, /^thread +messages +size +changed/);
  assert.match(stdout, /\na +1 +0\.0 MB +\d{4}-\d\d-\d\d \d\d:\d\d /);
  const [row] = (await at.json("threads", "--sizes")).document["threads"] as { bytes: number }[];
  assert.ok(row!.bytes > 50);
  assert.match((await at.run("threads", "--user", "nobody")).stderr, /No threads of the user "nobody" in /);
});

test("store backup makes a verified copy that can be used, and store vacuum gives space back", async (t) => {
  const at = desk(t);
  await said(at, "a", "b");
  const file = at.file("backup.db");
  const { code, document } = await at.json("store", "backup", file);
  assert.deepEqual([code, document["threads"]], [0, 2]);
  assert.equal((await at.run("store", "backup", file)).code, 1, "never over a file");
  assert.equal(
    (await at.run("replay", "a", "--store", file, "--raw")).stdout,
    (await at.run("replay", "a", "--raw")).stdout,
  );
  assert.deepEqual((await at.json("store", "init")).document, { partitions: null, distributed: false, indexes: [] });
  const parted = await at.run("store", "init", "--partitions", "4");
  assert.match(parted.stderr, /Only PostgreSQL has partitions/);
  const spread = await at.run("store", "init", "--distributed");
  assert.match(spread.stderr, /Only PostgreSQL with Citus is distributed/);
  // In an almost empty file the tables' own definitions decide: they may take a page of 512 bytes more after a vacuum.
  const line = JSON.stringify({ role: "user", content: "To be deleted again." });
  await at.piped(Array<string>(200).fill(line), "import", "-", "--thread", "c");
  assert.equal((await at.run("threads", "delete", "c")).code, 0);
  const vacuumed = await at.json("store", "vacuum");
  assert.equal(vacuumed.code, 0);
  const { before, after } = vacuumed.document as { before: number; after: number };
  assert.ok(after < before, `${before} to ${after}`);
  const nowhere = await at.run("store", "backup", "--home", at.file("nowhere"));
  assert.deepEqual([nowhere.code, existsSync(at.file("nowhere"))], [1, false]);
});

test("verify --all reads every thread of every user and names those that aren't whole", async (t) => {
  const at = desk(t);
  await said(at, "a");
  await at.run("run", "Hello.", "--user", "ann", "--thread", "b");
  const whole = await at.json("verify", "--all");
  assert.deepEqual([whole.code, whole.document["ok"], whole.document["threads"]], [0, true, 2]);
  const database = new DatabaseSync(join(at.home, "palimpsest.db"));
  database.exec("UPDATE records SET body = replace(body, 'About a.', 'About b.')");
  database.close();
  const broken = await at.json("verify", "--all");
  assert.equal(broken.code, 1);
  assert.deepEqual(
    (broken.document["broken"] as { thread: string }[]).map(({ thread }) => thread),
    ["a"],
  );
  assert.equal((await at.run("verify")).code, 2);
});

test("Ctrl-C ends an import at once, however much it computes, and leaves nothing of it", async (t) => {
  const at = desk(t);
  const line = JSON.stringify({ role: "user", content: "word ".repeat(400) });
  const file = at.file("huge.jsonl", `${line}\n`.repeat(20_000));
  const env = { ...CLEAN, PALIMPSEST_HOME: at.home };
  const args = ["--conditions=palimpsest-source", BINARY, "import", file, "--thread", "h"];
  const child = spawn(process.execPath, args, { env, stdio: "ignore" });
  const ended = once(child, "exit");
  // From here on it works without a pause for its own handlers.
  while (!existsSync(join(at.home, "palimpsest.db"))) await new Promise((resolve) => setTimeout(resolve, 5));
  child.kill("SIGINT");
  assert.deepEqual(await ended, [null, "SIGINT"]);
  assert.deepEqual((await at.json("threads")).document["threads"], []);
  assert.equal((await at.run("import", at.file("small.jsonl", `${line}\n`), "--thread", "h")).code, 0);
});

test("Ctrl-C during upkeep ends it, or it had finished and says so; either way nothing is half done", async (t) => {
  const at = desk(t);
  const messages = Array.from({ length: 6 }, (_, n) => ({
    role: n % 2 ? "assistant" : "user",
    content: `word ${n} `.repeat(50),
  }));
  const file = at.file("many.jsonl", `${JSON.stringify({ messages })}\n`.repeat(150));
  assert.equal((await at.run("import", file, "--thread", "many")).code, 0);
  const env = { ...CLEAN, PALIMPSEST_HOME: at.home };
  const backup = at.file("backup.db");
  for (const args of [
    ["verify", "--all"],
    ["doctor", "--rebuild"],
    ["store", "vacuum"],
    ["store", "backup", backup],
  ]) {
    const child = spawn(
      process.execPath,
      ["--conditions=palimpsest-source", "--import", AS_TERMINAL, BINARY, ...args],
      { env },
    );
    const ended = once(child, "close");
    let [told, done] = ["", ""];
    child.stdout.on("data", (chunk) => {
      done += chunk;
    });
    // It tells what it does as soon as that takes a while.
    child.stderr.on("data", (chunk) => {
      told += chunk;
      child.kill("SIGINT");
    });
    const [code, signal] = await ended;
    assert.ok(
      (done !== "" && code === 0) || signal === "SIGINT" || code === 130,
      `${args.join(" ")}: ${code} ${signal} ${told}`,
    );
  }
  if (existsSync(backup)) assert.equal((await at.json("verify", "--all", "--store", backup)).document["threads"], 150);
  assert.equal((await at.json("verify", "--all")).document["threads"], 150);
  assert.equal((await at.run("doctor")).code, 0);
});

test("Ctrl-C before the first answer on a long imported thread stops the run, and the thread is free at once", async (t) => {
  const at = desk(t);
  const message = (n: number) => ({
    role: n % 2 ? "assistant" : "user",
    content: `${n}: ${"nested groups fail ".repeat(12)}`,
  });
  const lines = Array.from({ length: 6000 }, (_, n) => JSON.stringify(message(n)));
  assert.equal((await at.run("import", at.file("long.jsonl", lines.join("\n")), "--thread", "long")).code, 0);
  const server = await startProviderServer({
    // The first never gets an answer, so that it can't have been faster than the Ctrl-C.
    faults: ({ body }) =>
      JSON.stringify(body).includes("hello again") ? undefined : { kind: "stall", afterEvents: 0 },
  });
  t.after(() => server.close());
  const model = `{name: m, provider: openai-compatible, model: m, base_url: "${server.url}", api_key: none, max_input_tokens: 1000000}`;
  writeFileSync(join(at.home, "config.yaml"), `models:\n  - ${model}\nmemory:\n  enabled: false\n`);
  const env = { ...CLEAN, PALIMPSEST_HOME: at.home };
  const args = ["--conditions=palimpsest-source", "--import", AS_TERMINAL, BINARY, "run", "hello", "--thread", "long"];
  const child = spawn(process.execPath, args, { env });
  const ended = once(child, "close");
  let told = "";
  // It says that it reads before it does.
  child.stderr.on("data", (chunk) => {
    if (told === "") child.kill("SIGINT");
    told += chunk;
  });
  const [code] = await ended;
  assert.match(told, /reading 6,000 messages/);
  assert.equal(code, 130, told);
  assert.equal((await at.run("run", "hello again", "--thread", "long", "--wait", "0")).code, 0);
});

// Import through the real binary: what comes back must be what went in, and bad input must leave nothing behind.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { BINARY, CLEAN, type Desk, desk } from "../test/binary.ts";

const hello = '{ "role":"user", "content":"h\\u00e9llo  \u2028", "n":1.50 }';
const call =
  '{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}}]}';
const result = '{"role":"tool","tool_call_id":"c1","content":"42"}';
const lines = [hello, call, result];

test("JSON lines come back byte for byte with --raw, and as the same values with --json", async (t) => {
  const at = desk(t);
  const file = at.file(
    "chat.jsonl",
    lines.map((line) => `{"at":"2026-01-02T03:04:05Z", "message": ${line}, "x":1}\n`).join(""),
  );
  const { code, document } = await at.json("import", file, "--thread", "a");
  assert.equal(code, 0);
  assert.deepEqual([document["thread"], document["imported"], document["skipped"]], ["a", 3, 0]);
  assert.equal((await at.run("replay", "a", "--raw")).stdout, `${lines.join("\n")}\n`);
  const replayed = (await at.json("replay", "a")).document;
  assert.deepEqual([replayed["thread"], replayed["dialect"]], ["a", "openai"]);
  assert.deepEqual(
    replayed["messages"],
    lines.map((line) => JSON.parse(line)),
  );
  assert.deepEqual((await at.json("verify", "a")).document["ok"], true);
});

test("a JSON array, a messages object and one line with messages are one thread each", async (t) => {
  const at = desk(t);
  const files = {
    array: `[${lines.join(",\n")}]`,
    object: `{\n"system":"Be brief.","messages":[${lines.join(",")}]\n}`,
    line: `{"messages":[${lines.join(",")}]}\n`,
  };
  for (const [name, text] of Object.entries(files)) {
    assert.equal((await at.run("import", at.file(name, text), "--thread", name)).code, 0);
    assert.equal((await at.run("replay", name, "--raw")).stdout, `${lines.join("\n")}\n`);
  }
  assert.equal((await at.json("view", "object")).document["system"], "Be brief.");
});

test("lines with messages become threads T-1 to T-n, whatever else stands on the line", async (t) => {
  const at = desk(t);
  const file = at.file("dialogs.jsonl", [hello, call].map((line) => `{"task":1,"messages":[${line}]}`).join("\n"));
  const { document } = await at.json("import", file, "--thread", "d");
  assert.deepEqual(document["threads"], [
    { thread: "d-1", messages: 1 },
    { thread: "d-2", messages: 1 },
  ]);
  assert.equal(document["imported"], 2);
  assert.equal((await at.run("replay", "d-2", "--raw")).stdout, `${call}\n`);
});

test("Anthropic and AI SDK messages are recognized", async (t) => {
  const at = desk(t);
  const anthropic =
    '[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]}]';
  const sdk = '[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"1","toolName":"f","input":{}}]}]';
  assert.equal((await at.json("import", at.file("a", anthropic), "--thread", "a")).document["dialect"], "anthropic");
  assert.equal((await at.json("import", at.file("b", sdk), "--thread", "b")).document["dialect"], "ai-sdk");
});

test("a file with a bad line imports nothing and names it; --skip-invalid imports the rest and reports it", async (t) => {
  const bad: Record<string, readonly [string | Buffer, RegExp]> = {
    truncated: [hello.slice(0, 20), /line 2: not valid JSON/],
    "invalid UTF-8": [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), /line 2: byte 3 is not UTF-8/],
    "unknown role": ['{"role":"robot","content":"x"}', /line 2: .*"robot"/],
    "unknown block": ['{"role":"user","content":[{"type":"hologram"}]}', /line 2: .*"hologram"/],
  };
  for (const [name, [line, said]] of Object.entries(bad)) {
    const at = desk(t);
    const file = at.file(
      "chat.jsonl",
      Buffer.concat([`${hello}\n`, line, `\n${hello}\n`].map((part) => Buffer.from(part))),
    );
    const refused = await at.run("import", file, "--thread", "a");
    assert.equal(refused.code, 1, name);
    assert.match(refused.stderr, said);
    assert.match(refused.stderr, /--skip-invalid/);
    assert.deepEqual((await at.json("threads")).document, { threads: [] });
    const skipped = await at.run("import", file, "--thread", "a", "--skip-invalid", "--json");
    assert.equal(skipped.code, 0, name);
    assert.match(skipped.stderr, said);
    const { imported, invalid } = JSON.parse(skipped.stdout);
    assert.deepEqual([imported, invalid.length], [2, 1], name);
  }
});

test("a tool result without a call is imported with a warning, and the view repairs it", async (t) => {
  const at = desk(t);
  const { code, stderr } = await at.run("import", at.file("chat.jsonl", `${hello}\n${result}\n`), "--thread", "a");
  assert.equal(code, 0);
  assert.match(stderr, /warning: .*line 2: the tool result "c1" has no call before it/);
  assert.equal((await at.run("replay", "a", "--raw")).stdout, `${hello}\n${result}\n`);
  const { document } = await at.json("view", "a");
  assert.equal((document["repairs"] as unknown[]).length > 0, true);
});

test("importing into a thread that exists is refused and changes nothing", async (t) => {
  const at = desk(t);
  const file = at.file("chat.jsonl", `${hello}\n`);
  await at.run("import", file, "--thread", "a");
  const again = await at.json("import", file, "--thread", "a");
  assert.equal(again.code, 1);
  assert.equal((again.document["error"] as { code: string }).code, "exists");
  assert.equal((await at.run("replay", "a", "--raw")).stdout, `${hello}\n`);
});

test("an import of many threads that stopped half way goes on when it is run again", async (t) => {
  const at = desk(t);
  const file = at.file("dialogs.jsonl", [hello, call].map((line) => `{"messages":[${line}]}`).join("\n"));
  await at.run("import", file, "--thread", "d");
  await at.run("threads", "delete", "d-2");
  const again = await at.json("import", file, "--thread", "d");
  assert.deepEqual([again.code, again.document["imported"]], [0, 2]);
  assert.equal((await at.run("replay", "d-2", "--raw")).stdout, `${call}\n`);
  assert.equal((await at.json("verify", "d-1")).code, 0);
});

test("an import of a few megabytes that is killed leaves all of a thread or nothing of it, and can be run again", async (t) => {
  const at = desk(t);
  const line = JSON.stringify({ role: "user", content: "x".repeat(1000) });
  const file = at.file("chat.jsonl", `${line}\n`.repeat(3000));
  for (const [round, delay] of [60, 120, 180, 240, 300, 360, 420].entries()) {
    const threadId = `t${round}`;
    const child = spawn(
      process.execPath,
      ["--conditions=palimpsest-source", BINARY, "import", file, "--thread", threadId, "--home", at.home],
      { env: CLEAN },
    );
    setTimeout(() => child.kill("SIGKILL"), delay);
    await new Promise((resolve) => child.once("exit", resolve));
    const { document } = await at.json("threads");
    const found = (document["threads"] as { id: string; messages: number }[]).find(({ id }) => id === threadId);
    assert.ok([undefined, 0, 3000].includes(found?.messages), JSON.stringify(found));
    const again = await at.run("import", file, "--thread", threadId);
    assert.equal(again.code, found?.messages === 3000 ? 1 : 0, again.stderr);
    assert.equal((await at.json("verify", threadId)).document["records"], 3002);
  }
});

test("missing, empty and message-less files and directories are one clear sentence each", async (t) => {
  const at = desk(t);
  for (const [path, said] of [
    [at.file("nowhere"), /nowhere does not exist/],
    ["nowhere", /^palimpsest: nowhere does not exist/],
    [at.file("empty", ""), /empty is empty/],
    [at.file("blank", "\n \n"), /blank holds no message/],
    [at.file("none", '{"event":1}\n'), /none holds no message \(1 line skipped\).*fields event.*ChatGPT export/],
    [at.file("list", "[]"), /list holds no message/],
    [at.file("."), /holds no \.json or \.jsonl file/],
  ] as const)
    await refused(at, ["import", path, "--thread", "a"], said);
});

test("a thread id that could leave its folder, or is too long, is bad usage in every command", async (t) => {
  const at = desk(t);
  const file = at.file("chat.jsonl", hello);
  const ids = ["../x", "a/b", "a..b", "x".repeat(10_000), "", ".hidden", "a b"];
  for (const args of [
    ...ids.map((id) => ["import", file, "--thread", id]),
    ["view", "../x"],
    ["threads", "delete", "../x"],
  ]) {
    const { code, stderr } = await at.run(...args);
    assert.equal(code, 2, `${args.join(" ").slice(0, 80)}: ${stderr}`);
    assert.ok(stderr.length < 500);
  }
  assert.ok(!existsSync(at.home));
});

test("a home that can't be written and a database that is no database are one clear sentence each", async (t) => {
  const at = desk(t);
  const file = at.file("chat.jsonl", hello);
  const blocked = join(at.file("a-file", "x"), "home");
  await refused(at, ["import", file, "--thread", "a", "--home", blocked], /a part of (its|the) path is a file/);
  mkdirSync(at.home);
  writeFileSync(
    join(at.home, "palimpsest.db"),
    "this is no database, only text that is long enough to be read as one ".repeat(20),
  );
  await refused(at, ["import", file, "--thread", "a"], /palimpsest\.db is not a database/);
});

test("a message of 50 MB comes back whole", async (t) => {
  const at = desk(t);
  const text = 'word \\"quoted\\" \\u00e9 '.repeat(2_500_000);
  const body = `{"role":"user","content":"${text}"}`;
  const file = at.file("big.jsonl", `${hello}\n${body}\n`);
  assert.equal((await at.json("import", file, "--thread", "a")).document["imported"], 2);
  const { stdout } = await at.run("replay", "a", "--raw");
  assert.ok(stdout === `${hello}\n${body}\n`);
  assert.equal((await at.json("verify", "a")).code, 0);
});

async function refused(at: Desk, args: readonly string[], said: RegExp): Promise<void> {
  const { code, stdout, stderr } = await at.run(...args);
  assert.equal(code, 1, `${args.join(" ")}: ${stderr}`);
  assert.match(stderr, said);
  assert.doesNotMatch(stderr, /^\s+at /m);
  assert.equal(stdout, "");
}

test("an imported thread has the title the agent would have given it", async (t) => {
  const at = desk(t);
  const messages = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Which river runs through Vienna? And how long is it?" },
  ];
  const path = at.file("a.jsonl", messages.map((message) => JSON.stringify(message)).join("\n"));
  await at.run("import", path, "--thread", "a");
  const { document } = await at.json("threads");
  assert.equal((document["threads"] as { title: string }[])[0]?.title, "Which river runs through Vienna?");
});

test("a ChatGPT export and a folder of sessions are imported, found again and named", async (t) => {
  const at = desk(t);
  const says = (id: string, parent: string | null, role: string, text: string, child?: string) => ({
    id,
    parent,
    children: child === undefined ? [] : [child],
    message: { author: { role }, content: { content_type: "text", parts: [text] }, recipient: "all" },
  });
  const mapping = { u: says("u", null, "user", "What is a lemur?", "a"), a: says("a", "u", "assistant", "A primate.") };
  mkdirSync(at.file("sessions"), { recursive: true });
  at.file("sessions/conversations.json", JSON.stringify([{ title: "Lemurs", mapping, current_node: "a" }]));
  at.file("sessions/ui.json", JSON.stringify([{ id: "1", role: "user", parts: [{ type: "text", text: "hi" }] }]));
  at.file("sessions/other.json", '{"event":1}');
  const { code, document } = await at.json("import", at.file("sessions"), "--thread", "mine");
  assert.deepEqual([code, document["imported"]], [0, 3]);
  const files = document["files"] as { file: string; problem: string | null }[];
  assert.deepEqual(
    files.map(({ file, problem }) => [file, problem === null]),
    [
      ["conversations.json", true],
      ["other.json", false],
      ["ui.json", true],
    ],
  );
  const { document: list } = await at.json("threads");
  const titles = (list["threads"] as { id: string; title: string }[]).map(({ id, title }) => `${id}: ${title}`).sort();
  assert.deepEqual(titles, ["mine-conversations: Lemurs", "mine-ui: hi"]);
  assert.match((await at.run("replay", "mine-conversations")).stdout, /A primate\./);
});

test("a file of plain words is told what can be read, not how to repair it", async (t) => {
  const at = desk(t);
  const { code, stderr } = await at.run("import", at.file("notes.txt", "just some notes\nand more\n"), "--thread", "n");
  assert.equal(code, 1);
  assert.match(stderr, /notes\.txt: not valid JSON.*Nothing was imported\. What can be read: messages of OpenAI/s);
  assert.doesNotMatch(stderr, /--skip-invalid/);
});

test("one message in one thread from one file is counted as one of each", async (t) => {
  const at = desk(t);
  mkdirSync(at.file("folder"));
  writeFileSync(join(at.file("folder"), "a.jsonl"), `${hello}\n`);
  const { stdout } = await at.run("import", at.file("folder"), "--thread", "one");
  assert.match(stdout, /^Imported 1 message into 1 thread from 1 file\.$/m);
});

// Following other programs' sessions through the real binary.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { BINARY, CLEAN, desk } from "../test/binary.ts";
import { killSync } from "../test/kill-sync.ts";

const line = (uuid: string, parentUuid: string | null, content: string) =>
  `${JSON.stringify({ uuid, parentUuid, sessionId: "s", type: "user", message: { role: "user", content } })}\n`;

test("sync says what is new, as JSON too; an unknown program or format is bad usage", async (t) => {
  const at = desk(t);
  const folder = join(at.home, "..", "sessions");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "s.jsonl"), line("1", null, "hello"));
  const first = await at.run("sync", folder);
  assert.deepEqual([first.code, first.stdout], [0, "1 new message in 1 file of 1, in 1 thread.\n"]);
  const { document } = await at.json("sync", folder, "--format", "claude-code");
  assert.deepEqual([document["messages"], document["files"], document["busy"]], [0, 1, 0]);
  assert.equal((await at.run("sync", folder, "--format", "word")).code, 2);
  const missing = await at.run("sync", join(folder, "nowhere"));
  assert.match(missing.stderr, /nowhere is not a directory\. Name one, or a program: claude-code, codex/);
});

test("with --watch it goes on until Ctrl-C, and what is written meanwhile is there", async (t) => {
  const at = desk(t);
  const folder = join(at.home, "..", "sessions");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "s.jsonl"), line("1", null, "hello"));
  const args = ["sync", folder, "--watch", "--every", "1", "--home", at.home];
  const child = spawn(process.execPath, ["--conditions=palimpsest-source", BINARY, ...args], { env: CLEAN });
  t.after(() => child.kill("SIGKILL"));
  const said = new Promise<void>((resolve) => {
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
      if (text.split("\n").length === 2) appendFileSync(join(folder, "s.jsonl"), line("2", "1", "again"));
      if (text.split("\n").length === 3) resolve();
    });
  });
  await said;
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  child.kill("SIGINT");
  assert.equal(await ended, 0);
  assert.equal((await at.run("replay", "claude-code-s", "--raw")).stdout.split("\n").length, 3);
});

test("a kill of the writer or of the follower loses nothing and doubles nothing", async (t) => {
  const { messages } = await killSync(desk(t), 4);
  assert.ok(messages > 0);
});

test("secrets in a transcript are masked in what is shown when that is asked for, and stay in the log", async (t) => {
  const at = desk(t);
  const secret = `sk-ant-${"a1b2".repeat(8)}`;
  await at.run(
    "import",
    at.file("chat.json", JSON.stringify([{ role: "user", content: `my key is ${secret}` }])),
    "--thread",
    "a",
  );
  for (const command of [
    ["replay", "a"],
    ["export", "a"],
    ["export", "a", "--as", "html"],
  ]) {
    assert.match((await at.run(...command)).stdout, new RegExp(secret));
    const { stdout } = await at.run(...command, "--mask");
    assert.match(stdout, /my key is \[redacted token\]/);
    assert.doesNotMatch(stdout, new RegExp(secret));
  }
  assert.equal((await at.run("replay", "a", "--raw", "--mask")).code, 2);
});

test("a masked export shows a secret of a message nowhere: not in the summary, not in arguments, not in pieces", async (t) => {
  const at = desk(t);
  const label = "JsonPw4242zz";
  const said = [
    {
      role: "user",
      content: `{"password":"${label}"} opens src/app.ts, the card is 5500 0055 5555 5559, password: Hunter2Tr0ub`,
    },
    { role: "assistant", content: `I note ${label} and Hunter2Tr0ub` },
    ...Array.from({ length: 20 }, (_, index) => [
      { role: "user", content: `Question ${index} about bridges?` },
      { role: "assistant", content: `Answer ${index} about bridges.` },
    ]).flat(),
  ];
  await at.run("import", at.file("chat.json", JSON.stringify(said)), "--thread", "a");
  await at.run("compact", "a");
  for (const command of [
    ["replay", "a"],
    ["export", "a"],
    ["export", "a", "--as", "html"],
    ["export", "a", "--as", "html", "--full"],
  ]) {
    const { stdout } = await at.run(...command, "--mask");
    assert.match(stdout, /bridges/);
    for (const secret of [label, "Hunter2Tr0ub", "5500", "5559"])
      assert.ok(!stdout.includes(secret), `${command}: ${secret}`);
  }
});

test("a file's name can't begin a line of what is printed", async (t) => {
  const at = desk(t);
  const folder = dirname(at.file("a\nImported 500 messages.jsonl", '{"role":"user","content":"x"}\nno JSON\n'));
  for (const command of [
    ["import", folder, "--thread", "dir"],
    ["sync", folder, "--format", "claude-code"],
  ]) {
    const { stderr } = await at.run(...command);
    assert.match(stderr, /Imported 500 messages/);
    assert.doesNotMatch(stderr, /^Imported 500/m);
  }
});

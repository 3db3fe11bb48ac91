// The lab, through the real binary.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { desk } from "../test/binary.ts";

const lines = Array.from({ length: 60 }, (_, index) =>
  JSON.stringify({
    role: index % 2 ? "assistant" : "user",
    content: `${index}: ${"words about src/a.ts ".repeat(40)}`,
  }),
).join("\n");

test("lab prints a row per policy, ours among them, and writes a page", async (t) => {
  const at = desk(t);
  const page = join(at.home, "..", `lab-${process.pid}.html`);
  const { code, document } = await at.json("lab", at.file("chat.jsonl", lines), "--window", "8000", "--html", page);
  assert.equal(code, 0);
  const rows = document["policies"] as Record<string, unknown>[];
  assert.equal(rows[0]?.["name"], "ours");
  for (const key of ["name", "cost", "tokens", "known", "violations", "compactions"]) assert.ok(key in rows[0]!, key);
  assert.match(readFileSync(page, "utf8"), /<title>Palimpsest lab<\/title>/);
});

test("an own policy is played; a missing file and a broken policy are named, the rest runs, and the exit code is 1", async (t) => {
  const at = desk(t);
  const early = at.file("early.yaml", "trigger: {type: tokens, value: 3000}\nkeep: {type: messages, value: 4}\n");
  const broken = at.file("broken.yaml", "trigger: {type: tokens, value: -3}\n");
  const { code, document } = await at.json(
    ...[
      "lab",
      at.file("chat.jsonl", lines),
      "nowhere.jsonl",
      "--window",
      "8000",
      "--policy",
      early,
      "--policy",
      broken,
    ],
  );
  assert.equal(code, 1);
  const problems = (document["problems"] as string[]).join("\n");
  assert.match(problems, /nowhere\.jsonl can't be read/);
  assert.match(problems, /broken\.yaml can't be played.*-3/);
  const names = (document["policies"] as { name: string }[]).map(({ name }) => name);
  assert.ok(names.includes("early") && names.includes("ours"));
});

test("a file that holds no JSON is named without a promise to play the rest of it", async (t) => {
  const at = desk(t);
  const { code, stderr } = await at.run("lab", at.file("notes.md", "# Notes\n\nNot a transcript.\n"));
  assert.equal(code, 1);
  assert.match(stderr, /notes\.md: not valid JSON/);
  assert.ok(!/other lines|: :/.test(stderr), stderr);
});

test("--mine says what each session in a folder cost and would have cost, what was lost, and masks secrets when asked", async (t) => {
  const at = desk(t);
  const folder = join(at.home, "..", `sessions-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  const usage = { input_tokens: 1_000_000, output_tokens: 0 };
  const rows = Array.from({ length: 60 }, (_, index) => {
    const type = index % 2 === 0 ? "user" : "assistant";
    const more = type === "assistant" ? { id: `m${index}`, model: "claude-sonnet-4-5", usage } : {};
    const message = { role: type, content: `${index}: words about src/file-${index % 7}.ts`, ...more };
    const parentUuid = index === 0 ? null : `u${index - 1}`;
    return { uuid: `u${index}`, parentUuid, sessionId: "s", type, message };
  });
  const title = { type: "custom-title", customTitle: `my key is sk-ant-${"a1b2".repeat(8)}` };
  const mark = { type: "system", subtype: "compact_boundary", uuid: "b", parentUuid: null, logicalParentUuid: "u39" };
  const file = [...rows.slice(0, 40), mark, ...rows.slice(40), title].map((row) => JSON.stringify(row)).join("\n");
  writeFileSync(join(folder, "s.jsonl"), file);
  const page = join(folder, "mine.html");
  const { code, document } = await at.json("lab", "--mine", folder, "--mask", "--html", page);
  assert.equal(code, 0);
  const [session] = document["sessions"] as Record<string, unknown>[];
  assert.deepEqual([session?.["spent"], session?.["calls"], session?.["compactions"]], [90, 30, 1]);
  assert.equal(session?.["name"], "my key is [redacted token]");
  const policies = session?.["policies"] as Record<string, unknown>[];
  assert.deepEqual(
    policies.slice(0, 3).map(({ name }) => name),
    ["as it was", "ours", "none"],
  );
  for (const key of ["cost", "used", "known", "recalled", "lost"])
    assert.equal(typeof policies[0]?.[key], "number", key);
  const html = readFileSync(page, "utf8");
  assert.match(html, /My sessions/);
  assert.doesNotMatch(html, /sk-ant/);
  assert.equal((await at.run("lab")).code, 2);
});

test("--mine says so where no session has a price, and how to compare policies without one", async (t) => {
  const at = desk(t);
  const file = join(at.home, "..", `unpriced-${process.pid}.jsonl`);
  writeFileSync(file, '{"role":"user","content":"How deep is it?"}\n{"role":"assistant","content":"Nine metres."}\n');
  const { code, stdout } = await at.run("lab", "--mine", file);
  assert.equal(code, 0);
  assert.equal(stdout, '1 session, none with a known price. "palimpsest lab FILE" compares policies without one.\n');
});

// The evaluation, through the real binary.
import assert from "node:assert/strict";
import { test } from "node:test";
import { desk } from "../test/binary.ts";

const lines = Array.from({ length: 60 }, (_, turn) => [
  { role: "user", content: `Please go on with the next step of the plan, step ${turn}.` },
  {
    role: "assistant",
    content: `The function parse${turn % 15}Header of src/part${turn % 15}/header.ts is done. ${"It is long. ".repeat(30)}`,
  },
])
  .flat()
  .map((message) => JSON.stringify(message))
  .join("\n");

test("eval prints a table for a file, and the same figures as JSON", async (t) => {
  const at = desk(t);
  const path = at.file("session.jsonl", lines);
  const { code, stdout } = await at.run("eval", path, "--window", "4000");
  assert.equal(code, 0);
  assert.match(stdout, /requests in a window of 4,000 tokens\nof +requests +tokens +seen/);
  assert.match(stdout, /session\.jsonl +60 /);
  const { document } = await at.json("eval", path, "--window", "4000");
  const figures = document["figures"] as Record<string, number>;
  assert.ok(figures["session.jsonl probes"]! > 20);
  assert.ok(figures["session.jsonl seen"]! > figures["session.jsonl trunc"]!);
});

test("a gate that holds is exit code 0; each figure that breaks it is one sentence and exit code 1", async (t) => {
  const at = desk(t);
  const path = at.file("session.jsonl", lines);
  const good = at.file("good.json", JSON.stringify({ "session.jsonl seen": { min: 1 } }));
  const held = await at.run("eval", path, "--window", "4000", "--gate", good);
  assert.equal(held.code, 0);
  assert.match(held.stderr, /The gate holds\./);
  const bounds = { "session.jsonl seen": { min: 101 }, "session.jsonl cost": { max: 0 }, gone: { min: 1 } };
  const broken = await at.run("eval", path, "--window", "4000", "--gate", at.file("bad.json", JSON.stringify(bounds)));
  assert.equal(broken.code, 1);
  assert.match(broken.stderr, /^session\.jsonl seen: [\d.]+ is below 101\.$/m);
  assert.match(broken.stderr, /^session\.jsonl cost: [\d.]+ is above 0\.$/m);
  assert.match(broken.stderr, /^gone: not measured/m);
});

test("without a file the user's own threads are measured, with the configured window and policy", async (t) => {
  const at = desk(t);
  await at.run("import", at.file("session.jsonl", lines), "--thread", "notes");
  const { code, document } = await at.json("eval", "--window", "4000");
  assert.equal(code, 0);
  const [row] = document["prompts"] as { of: string; requests: number; sessions: number }[];
  assert.deepEqual([row?.of, row?.requests, row?.sessions], ["thread notes", 60, 1]);
  const { document: other } = await at.json("eval", "--user", "somebody-else");
  assert.match(JSON.stringify(other), /no thread to measure/);
});

test("what can't be measured is one sentence", async (t) => {
  const at = desk(t);
  const empty = at.file("empty.json", "");
  for (const [args, code, sentence] of [
    [["eval"], 1, /no thread to measure/],
    [["eval", empty], 1, /empty\.json is empty\./],
    [["eval", "nowhere.json"], 1, /nowhere\.json does not exist\./],
    [["eval", "--thread", "gone"], 1, /no thread "gone"/],
    [["eval", empty, "--window", "12"], 2, /--window/],
    [["eval", empty, "--gate", "nowhere.json"], 1, /gate nowhere\.json does not exist/],
    [["eval", empty, "--gate", at.file("gate.json", "{}")], 1, /gate .*gate\.json can't be used: it names no figure/],
  ] as const) {
    const ended = await at.run(...args);
    assert.equal(ended.code, code, args.join(" "));
    assert.match(ended.stderr, sentence);
    assert.doesNotMatch(ended.stderr, /\n {4}at /);
  }
});

test("one bad file is named and the others are measured, with exit code 1", async (t) => {
  const at = desk(t);
  const { code, document } = await at.json("eval", at.file("session.jsonl", lines), "nowhere.json", "--window", "4000");
  assert.equal(code, 1);
  assert.deepEqual(document["problems"], ["nowhere.json does not exist."]);
  assert.equal((document["prompts"] as unknown[]).length, 1);
});

// Compacting, taking back and looking through another window, through the real binary.
import assert from "node:assert/strict";
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Desk, desk } from "../test/binary.ts";
import { exchanges, importMessages } from "../test/conversations.ts";

const parts = (at: Desk, threadId: string): string[] => {
  const folder = join(at.home, "threads", threadId, "history");
  return readdirSync(folder)
    .filter((name) => name.startsWith("part-"))
    .sort()
    .flatMap((name) => readFileSync(join(folder, name), "utf8").trim().split("\n"));
};
const messagesOf = (document: Readonly<Record<string, unknown>>) => document["messages"] as { content: string }[];

test("compact hides the older part behind a summary, undo takes it back exactly, redo brings it again", async (t) => {
  const at = desk(t);
  const said = exchanges(40);
  await importMessages(at, "a", said);
  const before = (await at.json("view", "a")).document;
  const { code, document } = await at.json("compact", "a");
  assert.equal(code, 0);
  assert.deepEqual([document["kind"], document["rung"], document["reason"]], ["compacted", "extract", "manual"]);
  assert.ok(Number(document["tokensAfter"]) < Number(document["tokensBefore"]) / 2);
  assert.deepEqual(document["hidden"], [1, 74]);
  assert.equal(document["archivePath"], "history/part-0000000001-0000000074.jsonl");
  assert.deepEqual(
    parts(at, "a").map((line) => JSON.parse(line)),
    said.slice(0, 74),
  );

  const compacted = (await at.json("view", "a")).document;
  assert.deepEqual(messagesOf(compacted), document["messages"]);
  assert.deepEqual(messagesOf(compacted).slice(-6), said.slice(-6));
  assert.ok(messagesOf(compacted)[0]!.content.startsWith("Record of the earlier conversation"));
  assert.deepEqual(messagesOf((await at.json("replay", "a")).document), said);

  assert.deepEqual((await at.json("undo", "a")).document, { thread: "a", undone: 83, seq: 84 });
  assert.deepEqual(messagesOf((await at.json("view", "a")).document), messagesOf(before));
  assert.deepEqual(readdirSync(join(at.home, "threads", "a", "history")), []);
  assert.equal((await at.run("undo", "a")).code, 1);

  assert.deepEqual((await at.json("undo", "a", "--redo")).document, { thread: "a", redone: 84, seq: 85 });
  assert.deepEqual(messagesOf((await at.json("view", "a")).document), messagesOf(compacted));
  assert.equal(parts(at, "a").length, 74);
  assert.match((await at.run("redo", "a")).stderr, /Nothing to redo/);
  assert.equal((await at.run("verify", "a")).code, 0);
});

test("one undo takes back all of a compaction that also had to shorten what stays, and one redo brings it again", async (t) => {
  const at = desk(t);
  const long = { role: "user", content: `Read all of this: ${"a very long paste ".repeat(3000)}` };
  await importMessages(at, "a", [...exchanges(20), long]);
  const before = messagesOf((await at.json("view", "a")).document);
  assert.equal((await at.json("compact", "a", "--window", "3000")).document["kind"], "compacted");
  const compacted = messagesOf((await at.json("view", "a")).document);
  assert.ok(compacted.at(-1)!.content.length < 20_000);
  assert.equal((await at.run("undo", "a")).code, 0);
  assert.deepEqual(messagesOf((await at.json("view", "a")).document), before);
  assert.equal((await at.run("redo", "a")).code, 0);
  assert.deepEqual(messagesOf((await at.json("view", "a")).document), compacted);
  assert.equal((await at.run("undo", "a")).code, 0);
  assert.deepEqual(messagesOf((await at.json("view", "a")).document), before);
  assert.equal((await at.run("undo", "a")).code, 1);
  assert.equal((await at.run("doctor", "--rebuild")).code, 0);
});

test("a thread with reports weighs the same in view, context and compact", async (t) => {
  const at = desk(t);
  const lines = exchanges(40).map((message, index) => {
    const usage = { model: "gpt-4o", usage: { prompt_tokens: 120 + 31 * index, completion_tokens: 9 } };
    return { message, ...(message.role === "assistant" && usage) };
  });
  await importMessages(at, "a", lines);
  const { tokens, source } = (await at.json("view", "a")).document;
  assert.equal(source, "anchored");
  assert.equal((await at.json("context", "a")).document["total"], tokens);
  assert.equal((await at.json("compact", "a", "--dry-run")).document["tokensBefore"], tokens);
  assert.equal((await at.json("compact", "a")).document["tokensBefore"], tokens);
});

test("a dry run says what would come of it and writes nothing, even while another run holds the thread", async (t) => {
  const at = desk(t);
  await importMessages(at, "a", exchanges(40));
  const before = (await at.run("verify", "a")).stdout;
  const { code, document } = await at.json("compact", "a", "--dry-run");
  assert.deepEqual([code, document["kind"], document["dryRun"]], [0, "compacted", true]);
  assert.equal((await at.run("verify", "a")).stdout, before);
  assert.equal((await at.json("view", "a")).document["tokens"], document["tokensBefore"]);
  assert.throws(() => readdirSync(join(at.home, "threads")));
});

test("view and context with --window show what that window would force, fit it, and write nothing", async (t) => {
  const at = desk(t);
  await importMessages(at, "a", exchanges(40));
  const before = (await at.run("verify", "a")).stdout;
  for (const window of [300, 500, 1000, 4000, 100_000]) {
    const { document } = await at.json("view", "a", "--window", String(window));
    const reserve = Math.min(4096, Math.floor(window / 8));
    assert.ok(Number(document["tokens"]) <= window - reserve, `${document["tokens"]} of ${window}`);
    assert.equal(document["simulated"], window < 100_000);
    assert.ok(messagesOf(document).at(-1)!.content.includes("Answer 39") || window < 1000);
    const context = (await at.json("context", "a", "--window", String(window))).document;
    assert.deepEqual([context["total"], context["simulated"]], [document["tokens"], document["simulated"]]);
    const sum = Object.values(context["parts"] as Record<string, number>).reduce((all, part) => all + part, 0);
    assert.equal(sum, context["total"]);
  }
  assert.equal((await at.run("verify", "a")).stdout, before);
});

test("the debug lines speak DeerFlow's words, under --verbose and where log_level asks for them", async (t) => {
  const at = desk(t);
  await importMessages(at, "a", exchanges(40));
  const words = [
    /Token count: \d+ \/ 32768 \(\d+%\)/,
    /Trigger: manual/,
    /Summarizing 74 messages, keeping last 6/,
    /Summary generated: \d+ tokens/,
    /New message count: 8, token count: \d+/,
  ];
  const spoken = async (...args: readonly string[]) => {
    const { stderr } = await at.run("compact", "a", "--dry-run", ...args);
    return words.filter((one) => one.test(stderr)).length;
  };
  assert.equal(await spoken("--verbose"), words.length);
  assert.equal(await spoken(), 0);
  writeFileSync(join(at.home, "config.yaml"), "log_level: { summarization: debug }\n");
  assert.equal(await spoken(), words.length);
});

test("the configuration's keep and window are those of a compaction by hand", async (t) => {
  const at = desk(t);
  await importMessages(at, "a", exchanges(40));
  const keep = "keep: { type: messages, value: 10 }, trigger: { type: messages, value: 30 }, summary_format: system";
  writeFileSync(join(at.home, "config.yaml"), `summarization: { ${keep}, fallback_context_window: 9000 }\n`);
  const { document } = await at.json("compact", "a");
  const messages = document["messages"] as { role: string }[];
  assert.deepEqual([messages.length, messages[0]!.role, document["hidden"]], [11, "system", [1, 70]]);
  assert.equal((await at.json("context", "a")).document["window"], 9000);
});

test("a redaction also leaves the part files, and a deleted thread leaves none", async (t) => {
  const at = desk(t);
  await importMessages(at, "a", exchanges(40));
  await at.run("compact", "a");
  assert.ok(parts(at, "a").join().includes("parse-3.ts"));
  const redacted = await at.run("redact", "a", "7");
  assert.equal(redacted.code, 0);
  assert.match(redacted.stdout, /Made \d+ summar(?:y|ies) anew from the messages that are left, without a model/);
  assert.doesNotMatch((await at.run("view", "a")).stdout, /was erased with a redacted message/);
  assert.ok(!parts(at, "a").join().includes("parse-3.ts"));
  assert.equal(parts(at, "a").length, 74);
  // As a redaction leaves it that was killed between the log and the files.
  const folder = join(at.home, "threads", "a", "history");
  const name = readdirSync(folder).find((one) => one.startsWith("part-"))!;
  const [clean, left] = [readFileSync(join(folder, name), "utf8"), `{"role":"user","content":"parse-3.ts"}\n`];
  rmSync(join(folder, name));
  writeFileSync(join(folder, name), left + clean);
  writeFileSync(join(folder, `.${name}.tmp`), left);
  const again = await at.run("redact", "a", "7");
  assert.deepEqual(
    [again.code, again.stdout],
    [0, "Redacted already, and nothing that was made of it is left: message 7 of a.\n"],
  );
  assert.equal(readFileSync(join(folder, name), "utf8"), clean);
  assert.deepEqual(
    readdirSync(folder).filter((one) => one.includes("part-")),
    [name],
  );
  assert.equal((await at.run("threads", "delete", "a")).code, 0);
  assert.deepEqual(readdirSync(join(at.home, "threads")), []);
});

test("doctor --rebuild finds part files that are missing, changed or strange, and makes them anew", async (t) => {
  const at = desk(t);
  await importMessages(at, "a", exchanges(40));
  await at.run("compact", "a");
  const folder = join(at.home, "threads", "a", "history");
  const name = readdirSync(folder).find((one) => one.startsWith("part-"))!;
  const whole = readFileSync(join(folder, name), "utf8");
  assert.equal((await at.run("doctor", "--rebuild")).code, 0);
  chmodSync(join(folder, name), 0o644);
  writeFileSync(join(folder, name), whole.slice(0, -20));
  writeFileSync(join(folder, "stray.jsonl"), "{}");
  const { code, stdout } = await at.run("doctor", "--rebuild");
  assert.equal(code, 1);
  assert.match(stdout, /part files of a: stray\.jsonl \(stray\), part-\d+-\d+\.jsonl \(different\); made anew/);
  assert.equal(readFileSync(join(folder, name), "utf8"), whole);
  rmSync(join(folder, name));
  assert.match((await at.run("doctor", "--rebuild")).stdout, /\(missing\)/);
  assert.equal((await at.run("doctor", "--rebuild")).code, 0);
});

test("compact says which records of the hidden range still stand", async (t) => {
  const at = desk(t);
  await importMessages(at, "a", [{ role: "system", content: "Be brief." }, ...exchanges(40)]);
  const { code, stdout } = await at.run("compact", "a");
  assert.equal(code, 0);
  assert.match(stdout, /records 1 to \d+ are behind a summary, except 1, which still stands \(/);
});

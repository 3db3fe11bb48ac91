import assert from "node:assert/strict";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { OpenAiMessage } from "@palimpsest/core/internal/message";
import { createThread, withWriter } from "palimpsest/internal/threads";
import { appendMessages, threadDeps } from "palimpsest/session";
import { openSqlite } from "palimpsest/stores";
import { evaluate } from "./evaluate.ts";
import { readEvalFile } from "./read-file.ts";
import { readThreads } from "./read-threads.ts";
import { BOUNDS } from "./sample.ts";

const folder = mkdtempSync(join(tmpdir(), "palimpsest-eval-"));
after(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

test("a file that can't be measured is refused in one sentence", async () => {
  const large = file("large.json", "[");
  truncateSync(large, 2 ** 31);
  for (const [path, sentence] of [
    [join(folder, "nowhere.json"), /nowhere\.json does not exist\.$/],
    [folder, /is a folder: name a file\.$/],
    [file("empty.json", ""), /is empty\.$/],
    [file("blank.jsonl", " \n \n"), /is empty\.$/],
    [file("broken.json", "[{"), /is not JSON: eval reads LoCoMo, BEAM, exact values and what import reads\.$/],
    [file("notes.md", "# Notes\n\nNo session.\n"), /holds no session \(.*\): eval reads/],
    [file("other.json", '[{"some": "thing"}]'), /holds no session/],
    [file("beam.json", '[{"messages": [{"id": 1}], "questions": []}]'), /is damaged at 0\.messages\.0\.role/],
    [file("none.json", '[{"messages": [], "questions": []}]'), /holds no question with evidence\.$/],
    [large, /has 2048 MB: eval reads files of at most 256 MB\.$/],
  ] as const) {
    const read = await readEvalFile(path);
    const said = read.kind === "unreadable" ? read.problem : "read";
    assert.match(said, sentence, path);
    assert.ok(!said.includes("\n"), said);
  }
});

/** The assistant comes back to the same names every 30 messages. */
function session(turns: number): OpenAiMessage[] {
  return Array.from({ length: turns }, (_, turn): OpenAiMessage[] => {
    const name = `parse${turn % 15}Header`;
    return [
      { role: "user", content: `Please go on with the next step of the plan, step ${turn}.` },
      {
        role: "assistant",
        content: `The function ${name} of src/part${turn % 15}/header.ts reads ${1000 + turn} bytes. ${"It is long. ".repeat(30)}`,
      },
    ];
  }).flat();
}

test("a session is measured: what requests hold beside truncation, what a search finds, and figures by name", async () => {
  const path = file(
    "session.jsonl",
    session(60)
      .map((message) => JSON.stringify(message))
      .join("\n"),
  );
  const read = await readEvalFile(path);
  assert.equal(read.kind, "read");
  const report = await evaluate([read.input], { window: 4_000, bounds: BOUNDS });
  const [row] = report.prompts;
  assert.ok(row!.probes > 20 && row!.requests === 60, JSON.stringify(row));
  assert.ok(row!.seen! > row!.trunc!, "what is kept is worth more than the newest messages alone");
  assert.equal(report.figures["session.jsonl seen"], row!.seen);
  assert.equal(row!.over + row!.failed, 0);
});

test("what is beyond the bounds is left out and told", async () => {
  const path = file(
    "long.jsonl",
    session(60)
      .map((message) => JSON.stringify(message))
      .join("\n"),
  );
  const read = await readEvalFile(path);
  assert.equal(read.kind, "read");
  const { notes } = await evaluate([read.input], { window: 4_000, bounds: { ...BOUNDS, messages: 50, questions: 2 } });
  assert.match(notes.join("\n"), /long\.jsonl: 50 of 120 messages, the newest of each session/);
  assert.match(notes.join("\n"), /things that are used again were searched for/);
});

test("an exact value is looked for in the agent's request and after one recall", async () => {
  const at = Date.UTC(2026, 0, 1);
  const messages = Array.from({ length: 40 }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `The record item-${index}-1 has the value V-${index}-QX. ${"More words follow here. ".repeat(20)}`,
    timestamp: at + index,
  }));
  const questions = [{ category: "value", question: "What is the value of item-2-1?", expected: "V-2-QX" }];
  const path = file("exact.json", JSON.stringify([{ id: "h", authoritativeRecords: [], messages, questions }]));
  const read = await readEvalFile(path);
  assert.equal(read.kind, "read");
  const report = await evaluate([read.input], { window: 33_000, bounds: BOUNDS });
  assert.equal(report.request[0]?.questions, 1);
  assert.equal(report.figures["exact values afterRecall"], 100);
  assert.equal(report.figures["exact values first1"], 100);
});

test("a user's threads are read, other users' aren't, and nothing is written", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const [ann, ben] = [store.forUser("ann"), store.forUser("ben")];
  for (const [own, id] of [
    [ann, "notes"],
    [ben, "secret"],
  ] as const) {
    const deps = threadDeps(own);
    await createThread(deps, { id });
    const said = session(5).map((body) => ({ dialect: "openai" as const, origin: "import" as const, body }));
    await withWriter(deps, id, (writer) => appendMessages(writer, said));
  }
  const before = (await ann.head("notes"))?.version;
  const input = await readThreads(ann, ["notes", "secret"], { name: "threads", of: 2, bounds: BOUNDS });
  assert.deepEqual(
    input.sessions.map(({ name, turns }) => [name, turns.length]),
    [
      ["notes", 10],
      ["secret", 0],
    ],
  );
  assert.equal((await ann.head("notes"))?.version, before);
  const last = await readThreads(ann, ["notes"], { name: "thread notes", of: 1, bounds: { ...BOUNDS, messages: 4 } });
  assert.deepEqual([last.sessions[0]?.turns.length, last.sessions[0]?.of], [4, 10]);
});

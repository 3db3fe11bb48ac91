import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { LogRecord } from "@palimpsest/core/internal/log";
import fc from "fast-check";
import { openSqlite } from "../stores/index.ts";
import { replay } from "../thread/audit.ts";
import { threadDeps } from "../thread/writer.ts";
import { importFile } from "./import-file.ts";

function place(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-import-"));
  const store = openSqlite({ path: ":memory:" });
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const path = join(folder, "file");
  return {
    store,
    import: (threadId: string, content: string) => {
      writeFileSync(path, content);
      return importFile(threadDeps(store), path, { threadId, onInvalid: "refuse" });
    },
    records: async (threadId: string) => {
      const records: LogRecord[] = [];
      for await (const { record } of store.records(threadId)) records.push(record);
      return records;
    },
  };
}

const line = (content: string, input: number | null) =>
  JSON.stringify({
    at: "2026-01-02T03:04:05.000Z",
    message: { role: input === null ? "user" : "assistant", content },
    ...(input !== null && { usage: { input, output: 1, cache_read: 0, cache_write: 0 }, model: "m" }),
  });

test("records stand in the order a live thread would have written them", async (t) => {
  const at = place(t);
  const request = { system: "Be brief.", tools: [{ name: "look" }] };
  await at.import("a", JSON.stringify({ ...request, messages: [{ role: "user", content: "x" }] }));
  const [state, message, title, receipt] = await at.records("a");
  assert.deepEqual(state?.kind === "state" && state.patch, { request });
  assert.deepEqual(message?.kind === "message" && [message.origin, message.dialect], ["import", "openai"]);
  assert.deepEqual(title?.kind === "state" && title.patch, { title: "x" });
  assert.equal(receipt?.kind === "event" && receipt.event.type, "imported");
});

test("an answer that ended before its first word is left out with a warning, and the rest is imported", async (t) => {
  const at = place(t);
  const empty = { message: { role: "assistant", content: null }, model: "m" };
  const [stopped, failed] = ["aborted", "error"].map((reason) => JSON.stringify({ ...empty, stop_reason: reason }));
  const outcome = await at.import("a", [line("q", null), stopped, line("q", null), failed, line("a", 9)].join("\n"));
  assert.equal(outcome.kind, "imported");
  assert.deepEqual(outcome.kind === "imported" && [outcome.imported, outcome.warnings], [
    3,
    [{ place: "", message: "left out: an answer that ended before its first word (2 times)" }],
  ]);
  const unexplained = await at.import("b", [line("q", null), JSON.stringify(empty)].join("\n"));
  assert.equal(unexplained.kind, "invalid");
});

test("a usage report points at its message and keeps its time", async (t) => {
  const at = place(t);
  await at.import("a", [line("q", null), line("a", 100), line("q", null), line("a", 200)].join("\n"));
  const records = await at.records("a");
  for (const record of records.filter(({ kind }) => kind === "usage")) {
    const of = record.kind === "usage" ? records[record.of - 1] : undefined;
    assert.ok(of?.kind === "message" && of.body.includes("assistant"));
    assert.equal(record.at, "2026-01-02T03:04:05.000Z");
  }
});

test("[F26] zeros, and reports after the source shortened its prompt, are kept but never believed", async (t) => {
  const at = place(t);
  const inputs = [1000, 0, 1200, 90_000, 20_000, 95_000];
  await at.import("a", inputs.map((input) => line("a", input)).join("\n"));
  const usage = (await at.records("a")).filter((record) => record.kind === "usage");
  assert.deepEqual(
    usage.map(({ input, flaw }) => [input, flaw ?? null]),
    [
      [1000, null],
      [0, "zero"],
      [1200, null],
      [90_000, null],
      [20_000, "implausible"],
      [95_000, "implausible"],
    ],
  );
  const head = await at.store.head("a");
  assert.equal(head?.usage, usage[3]!.seq);
});

test("whatever the messages say, replay gives back the very text of the file", async (t) => {
  const at = place(t);
  let round = 0;
  const message = fc.record({
    role: fc.constantFrom("user", "assistant"),
    content: fc.string({ unit: "binary" }),
    extra: fc.jsonValue(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 8 }), fc.boolean(), async (messages, wrapped) => {
      round += 1;
      const bodies = messages.map((value) => JSON.stringify(value));
      const text = wrapped ? `[${bodies.join(" ,")}]` : bodies.map((body) => `{"message":${body}}\r\n`).join("");
      const outcome = await at.import(`t${round}`, text);
      assert.equal(outcome.kind, "imported", JSON.stringify(outcome));
      const replayed: string[] = [];
      for await (const { body } of replay({ store: at.store }, `t${round}`)) replayed.push(body);
      assert.deepEqual(replayed, bodies);
    }),
    { numRuns: 30 },
  );
});

test("branches of a conversation become forks that share what came before, and sub-agents threads of their own", async (t) => {
  const at = place(t);
  const says = (uuid: string, parentUuid: string | null, type: string, content: string, more: object = {}) =>
    JSON.stringify({ uuid, parentUuid, sessionId: "s", type, message: { role: type, content }, ...more });
  const file = [
    says("1", null, "user", "a"),
    says("2", "1", "assistant", "b"),
    says("s", null, "user", "sub", { isSidechain: true, agentId: "x" }),
    says("3", "2", "user", "c"),
    says("4", "2", "user", "d"),
    says("5", "4", "assistant", "e"),
    says("6", "4", "assistant", "f"),
  ].join("\n");
  const outcome = await at.import("a", file);
  assert.ok(outcome.kind === "imported");
  const said = async (threadId: string) => {
    const contents: string[] = [];
    for await (const { body } of replay({ store: at.store }, threadId)) contents.push(JSON.parse(body).content);
    return contents.join("");
  };
  assert.deepEqual(await Promise.all(outcome.threads.map(async ({ thread }) => [thread, await said(thread)])), [
    ["a", "abc"],
    ["a-agent-1", "sub"],
    ["a-fork-1", "abde"],
    ["a-fork-2", "abdf"],
  ]);
  assert.deepEqual((await at.store.header("a-fork-2"))?.parent, "a-fork-1");
  assert.deepEqual((await at.store.header("a-agent-1"))?.kind, "subagent");
  assert.equal((await at.import("a", file)).kind, "exists");
});

// [F45] Old threads stay readable: what any release wrote opens, verifies, replays and goes on, for ever.
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ChainedRecord, Head, ThreadHeader } from "@palimpsest/core/internal/log";
import { chainVerifier, headFold, parseRecord } from "@palimpsest/core/internal/log";
import { openaiShape } from "@palimpsest/core/internal/message";
import { collect } from "@palimpsest/testing/internal/kit";
import { openUnder } from "@palimpsest/testing/internal/thread-writer";
import { openSqlite } from "../stores/sqlite.ts";
import { appendMessages, undo, withWriter } from "./acts.ts";
import { rebuildHead, replay, verify } from "./audit.ts";
import { redact } from "./redact.ts";
import { sha256, threadDeps } from "./writer.ts";

const FIXTURES = new URL("./fixtures/", import.meta.url);

type Line = { thread: string } & ({ header: ThreadHeader; head: Head } | ChainedRecord);

/** Every format there ever was, and which bodies were erased in its threads. */
const FORMATS = [
  { version: 2, redacted: [4, 8, 11] },
  { version: 3, redacted: [4, 8, 11] },
];

function threadOf(version: number, id: string) {
  const lines = readFileSync(new URL(`format-v${version}.jsonl`, FIXTURES), "utf8")
    .trimEnd()
    .split("\n");
  const own = lines.map((line) => JSON.parse(line) as Line).filter((line) => line.thread === id);
  const about = own.find((line) => "head" in line) as { header: ThreadHeader; head: Head };
  const records = own.filter((line) => "hash" in line).map(({ thread: _, ...record }) => record as ChainedRecord);
  return { ...about, records };
}

for (const { version, redacted } of FORMATS) {
  for (const id of ["golden", "branch"]) {
    test(`[F45] the records of format ${version} verify, parse and fold as they did: ${id}`, () => {
      const { header, head, records } = threadOf(version, id);
      const verifier = chainVerifier(sha256);
      const fold = headFold(header.createdAt);
      for (const record of records) {
        const { seq, v } = parseRecord(record);
        assert.deepEqual([seq, v], [record.seq, version]);
        verifier.add(record);
        fold.add(record);
      }
      assert.deepEqual(verifier.finish(head), { kind: "whole", records: head.version, redacted, rewritten: [] });
      assert.deepEqual(fold.head(), head);
    });
  }

  test(`the fixture of format ${version} holds every kind of record`, () => {
    const kinds = new Set(threadOf(version, "golden").records.map(({ kind }) => kind));
    assert.deepEqual([...kinds].sort(), [
      "compaction",
      "event",
      "evidence",
      "message",
      "pin",
      "prune",
      "state",
      "undo",
      "usage",
    ]);
  });

  test(`[F45] a database of format ${version} opens, verifies, replays, loads and goes on`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "palimpsest-"));
    copyFileSync(new URL(`format-v${version}.db`, FIXTURES), join(folder, "log.db"));
    const store = openSqlite({ path: join(folder, "log.db") }).forUser("ann");
    const own = threadDeps(store);
    for (const id of ["golden", "branch"]) {
      const { header, head, records } = threadOf(version, id);
      assert.deepEqual(await store.header(id), header);
      assert.deepEqual(await store.head(id), head);
      assert.deepEqual(
        (await collect(store.records(id))).map(({ chained }) => chained),
        records,
      );
      assert.equal((await verify(own, id)).kind, "whole");
      assert.equal((await rebuildHead(own, id)).kind, "equal");
      assert.ok((await store.load(id))!.records.length > 0);
    }
    const [first] = await collect(replay(own, "golden"));
    assert.equal(first!.body, '{ "role": "user",  "content": "naïve 日本語 👩‍👩‍👧 \\ud800 \\u0000" }');
    await withWriter(own, "golden", async (writer) => {
      assert.equal((await undo(writer)).kind, "undone");
      await appendMessages(writer, [
        { dialect: "openai", origin: "user", body: { role: "user", content: "years later" } },
      ]);
    });
    assert.equal((await verify(own, "golden")).kind, "whole");
    assert.equal((await redact(own, "golden", 1)).kind, "redacted");
    assert.equal((await verify(own, "golden")).kind, "whole");
    assert.equal((await rebuildHead(own, "golden")).kind, "equal");
    await store.close();
    rmSync(folder, { recursive: true });
  });

  test(`[F45] a thread of format ${version} is compacted on, and every state comes back by undo`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "palimpsest-"));
    copyFileSync(new URL(`format-v${version}.db`, FIXTURES), join(folder, "log.db"));
    const store = openSqlite({ path: join(folder, "log.db") }).forUser("ann");
    t.after(async () => {
      await store.close();
      rmSync(folder, { recursive: true });
    });
    const done = await withWriter(threadDeps(store), "golden", async (writer) => {
      const stateNow = async () => (await openUnder(writer, openaiShape)).summaryState();
      const first = await stateNow();
      assert.deepEqual(first, version < 3 ? { facts: ["a.txt was read"] } : GOLDEN_STATES[2]);
      const conversation = await openUnder(writer, openaiShape);
      const state = { ...(first as object), later: "a state of today" };
      const { hiddenThrough, compaction } = conversation.head();
      await conversation.commit([
        {
          kind: "compaction",
          covers: [hiddenThrough + 1, 5],
          folds: compaction,
          request: null,
          systems: [],
          summary: { format: "pair", text: "Everything.", digest: null, state },
          rung: "extract",
          reason: "test",
          tokensBefore: 2,
          tokensAfter: 1,
          archive: null,
        },
      ]);
      assert.deepEqual(await stateNow(), state);
      await undo(writer);
      assert.deepEqual(await stateNow(), first);
      for (const before of version < 3 ? [null] : [GOLDEN_STATES[1], GOLDEN_STATES[0], null]) {
        await undo(writer);
        assert.deepEqual(await stateNow(), before);
      }
      assert.equal((await verify(writer, "golden")).kind, "whole");
      assert.equal((await rebuildHead(writer, "golden")).kind, "equal");
    });
    assert.equal(done.kind, "done");
  });
}

/** What the three compactions of format 3's golden thread left: the first one whole, the others as what changed. */
const GOLDEN_STATES = goldenStates();

function goldenStates() {
  const read = Array.from({ length: 6 }, (_, index) => ({
    id: `f${index + 1}`,
    text: `Fact ${index + 1}: the file part-${index + 1}.txt was read by Ann`,
    seqs: [index + 1],
  }));
  const asked = { id: "f7", text: "@ann asked for the file a.txt, naïve 日本語", seqs: [2] };
  const lines = { id: "f8", text: "The file a.txt has two lines, 1 and 2", seqs: [3] };
  const last = read.slice(1).map((fact) => (fact.id === "f4" ? { ...fact, status: "done" } : fact));
  return [
    { summary: { v: 1, through: 1, facts: read, prose: "Ann greeted." }, userTurns: [1] },
    { summary: { v: 1, through: 2, facts: [...read.slice(1), asked], prose: null }, userTurns: [1, 2] },
    { summary: { v: 1, through: 3, facts: [...last, lines] }, userTurns: [1, 2, 3] },
  ];
}

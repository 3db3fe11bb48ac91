// [F45] Old threads stay readable: what any release wrote opens, verifies, replays and goes on, for ever.
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  type ChainedRecord,
  chainVerifier,
  type Head,
  headFold,
  parseRecord,
  type ThreadHeader,
} from "@palimpsest/core/log";
import { collect } from "../stores/conformance/kit.ts";
import { openSqlite } from "../stores/sqlite.ts";
import { appendMessages, means, rebuildHead, redact, replay, sha256, undo, verify, withWriter } from "./index.ts";

const FIXTURES = new URL("./fixtures/", import.meta.url);

type Line = { thread: string } & ({ header: ThreadHeader; head: Head } | ChainedRecord);

/** Every format there ever was, and which bodies were erased in its threads. */
const FORMATS = [
  { version: 1, redacted: [4, 11] },
  { version: 2, redacted: [4, 8, 11] },
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
      assert.deepEqual(verifier.finish(head), { kind: "whole", records: head.version, redacted });
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
    const store = openSqlite({ path: join(folder, "log.db") });
    const own = means(store);
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
}

// What a rebuild may repair and what it must leave as evidence: the head is derived, but it alone shows a cut log.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { freshThread, say } from "@palimpsest/testing/internal/kit";
import { searchThread } from "../recall/search.ts";
import { openSqlite } from "../stores/index.ts";
import { verify } from "../thread/audit.ts";
import { threadDeps } from "../thread/writer.ts";
import { checkHome } from "./doctor.ts";

async function tampered(t: TestContext, sql: string) {
  const home = mkdtempSync(join(tmpdir(), "doctor-"));
  const path = join(home, "palimpsest.db");
  t.after(() => rmSync(home, { recursive: true }));
  const store = openSqlite({ path });
  const writer = await freshThread(store);
  await say(writer, "one", "two", "three", "four");
  await store.close();
  const raw = new DatabaseSync(path);
  raw.exec(sql);
  raw.close();
  const { threadId } = writer.lease;
  const open = async () => openSqlite({ path });
  return {
    bad: async () => {
      const checks = await checkHome({ home, cwd: home, env: {}, open, derived: "rebuild" });
      return checks.filter(({ ok, name }) => !ok && name !== "threads").map(({ name, detail }) => `${name}: ${detail}`);
    },
    verdict: async () => {
      const again = await open();
      const { kind } = await verify(threadDeps(again), threadId);
      await again.close();
      return kind;
    },
  };
}

for (const [what, sql, said] of [
  ["whose last record is gone", "DELETE FROM records WHERE seq = 4", /record 4: is missing/],
  ["with a changed body", "UPDATE records SET body = replace(body, 'two', 'too') WHERE seq = 2", /record 2: its body/],
] as const) {
  test(`a rebuild reports a log ${what} each time and never makes it look whole`, async (t) => {
    const { bad, verdict } = await tampered(t, sql);
    for (const _ of [1, 2]) {
      const found = await bad();
      assert.equal(found.length, 1);
      assert.match(found[0]!, /^log of /);
      assert.match(found[0]!, said);
      assert.equal(await verdict(), "broken");
    }
  });
}

test("a rebuild repairs a wrong head of a whole log, and reports it once", async (t) => {
  const { bad } = await tampered(t, "UPDATE heads SET messages = 77, head = json_set(head, '$.hiddenThrough', 3)");
  assert.match((await bad()).join("\n"), /^head of .*differed in .*rewritten from the log$/);
  assert.deepEqual(await bad(), []);
});

test("a rebuild says how much of a thread is indexed, others write meanwhile, and a search goes on where it was ended", async (t) => {
  const home = mkdtempSync(join(tmpdir(), "doctor-"));
  const path = join(home, "palimpsest.db");
  const store = openSqlite({ path });
  t.after(async () => {
    await store.close();
    rmSync(home, { recursive: true });
  });
  const writer = await freshThread(store);
  const { threadId } = writer.lease;
  for (let said = 0; said < 3; said += 1)
    await say(writer, ...Array.from({ length: 700 }, (_, index) => `word${said * 700 + index} tide`));
  const told: number[] = [];
  const rebuild = (onIndex: (indexed: number) => void) =>
    checkHome({
      home,
      cwd: home,
      env: {},
      open: async () => openSqlite({ path }),
      derived: "rebuild",
      onProgress: (_done, _threadId, index) => index && onIndex(index.indexed),
    });
  const ended = await rebuild((indexed) => {
    told.push(indexed);
    if (indexed > 0) throw new Error("ended");
  });
  assert.deepEqual(told.slice(0, 2), [0, 1024]);
  assert.match(JSON.stringify(ended), /ended/);
  await say(writer, "word9999 tide");
  for (const word of ["word5", "word2099", "word9999"]) {
    const outcome = await searchThread(store, threadId, word);
    assert.equal(outcome.kind === "found" && outcome.hits[0]?.text, `${word} tide`);
  }
  told.length = 0;
  const checks = await rebuild((indexed) => told.push(indexed));
  assert.ok(checks.every(({ ok }) => ok));
  assert.deepEqual(told, [0, 1024, 2048, 2101]);
});

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { createThread, threadDeps } from "../../thread/writer.ts";
import { partWriter, readPostings } from "../posting-text.ts";
import { openSqlite } from "../sqlite.ts";

test("merged lists are read in the spelling of before and of now, in their rows and beside them", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-postings-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "log.db");
  const store = openSqlite({ path });
  t.after(() => store.close());
  await createThread(threadDeps(store), { id: "t" });
  const part = partWriter(1024, 0);
  // Some in a short row, some in a list of its own, and one by block because it is in very many entries.
  for (let ordinal = 0; ordinal < 16_384; ordinal += 4) {
    const terms = new Map([["many", 1]]);
    if (ordinal % 128 === 0) terms.set("some", 2);
    if (ordinal % 4096 === 0) terms.set("few", 1.5);
    part.add(ordinal, terms);
  }
  const newest = { ordinal: 16_383, session: 1, at: "2026-01-01T00:00:00.000Z" };
  const batch = { expect: 0, indexed: 0, newest, entries: [], postings: [], part: part.merged() };
  assert.equal(await store.search.write("t", batch), "written");
  const places = async () => {
    const spans = [{ threadId: "t", before: 16 }];
    const counted = await store.search.merging!.counts(spans, ["few", "many", "some"], "all");
    const found = await store.search.postings(spans, ["few", "many", "some"]);
    const offsets = found.flatMap(({ term, block, list }) => {
      const own: string[] = [];
      readPostings(list, 1024, (offset, weight) => own.push(`${term} ${block * 1024 + offset} ${weight}`));
      return own;
    });
    return { counts: counted.map(({ term, count, split }) => [term, count, split]).sort(), offsets: offsets.sort() };
  };
  const now = await places();
  assert.deepEqual(now.counts, [
    ["few", 4, false],
    ["many", 4096, true],
    ["some", 128, false],
  ]);
  assert.equal(now.offsets.length, 4 + 4096 + 128);
  const file = new DatabaseSync(path);
  t.after(() => file.close());
  const listed = () => file.prepare("SELECT count(*) AS lists FROM recall_lists").get()!["lists"];
  assert.equal(listed(), 17);
  const before = Array.from("048C", (digit) => `|${digit}00:150;`).join("");
  file.prepare("UPDATE recall_postings SET list = ? WHERE term = 'few'").run(before);
  assert.deepEqual(await places(), now);
  await store.search.clear("t");
  assert.equal(listed(), 0);
});

// The window, entry by entry: what stands there, why, since when, and the words of it in any format.
import assert from "node:assert/strict";
import { test } from "node:test";
import { world } from "../../test/examples.ts";
import { codeOf } from "../../test/running.ts";

test("the window names each entry with its tokens and why it is there, before and after a compaction", async (t) => {
  const at = await world(t);
  const window = async (query = "") => JSON.parse((await at.ask("GET", `/api/threads/t/window${query}`, "ada")).text);
  const before = await window();
  assert.deepEqual([before.compaction, before.undo, before.redo], [null, null, null]);
  assert.ok(before.entries.every(({ source }: { source: string }) => source === "message"));
  const compacted = await at.ask("POST", "/api/threads/t/compact", "ada", { body: { window: 3600 } });
  assert.equal(JSON.parse(compacted.text).kind, "compacted");

  const after = await window();
  const { seq, hiddenThrough, tokensBefore, tokensAfter, text } = after.compaction;
  assert.equal(after.undo, seq);
  assert.ok(tokensAfter < tokensBefore);
  assert.equal(after.entries[0].source, "summary");
  assert.ok(after.entries.every((entry: { seq: number | null }) => entry.seq === null || entry.seq > hiddenThrough));
  assert.match(text, /^Record of the earlier conversation/);
  assert.deepEqual((await window(`?at=${seq - 1}`)).entries, before.entries, "as it was before");
  await at.ask("POST", "/api/threads/t/undo", "ada", { body: {} });
  assert.ok((await window()).redo > seq);
});

test("the parts at past records are those of the window there, of some records and no more", async (t) => {
  const at = await world(t);
  const get = async (path: string) => at.ask("GET", `/api/threads/t/${path}`, "ada");
  const { total, parts } = JSON.parse((await get("window?at=3")).text);
  const { moments } = JSON.parse((await get("parts?at=5,3,3")).text);
  assert.deepEqual(
    moments.map((moment: { at: number }) => moment.at),
    [3, 5],
  );
  assert.deepEqual(moments[0], { at: 3, total, parts });
  for (const wrong of ["", "?at=", "?at=0", "?at=one", `?at=${Array.from({ length: 65 }, (_, seq) => seq + 1)}`])
    assert.equal((await get(`parts${wrong}`)).status, 400, wrong);
  assert.equal((await at.ask("GET", "/api/threads/never/parts?at=1", "ada")).status, 404);
});

test("lines are the words of messages, cut where they are long, from any record on or of some alone", async (t) => {
  const at = await world(t);
  const lines = async (query: string) => JSON.parse((await at.ask("GET", `/api/threads/t/lines${query}`, "ada")).text);
  const all = await lines("?length=12");
  assert.ok(all.lines.length > 4 && all.next === null);
  for (const { parts } of all.lines) for (const { text } of parts) assert.ok(text.length <= 12);
  const [first, second] = all.lines;
  const page = await lines("?limit=1");
  assert.deepEqual([page.lines[0].seq, page.next], [first.seq, first.seq + 1]);
  const some = await lines(`?seqs=${second.seq},${first.seq},999999&length=100000`);
  assert.deepEqual(
    some.lines.map(({ seq }: { seq: number }) => seq),
    [first.seq, second.seq],
  );
  assert.equal(some.lines[0].parts[0].text.length, some.lines[0].parts[0].length);
  const wrong = await at.ask("GET", "/api/threads/t/lines?seqs=one", "ada");
  assert.deepEqual([wrong.status, codeOf(wrong)], [400, "invalid"]);
});

test("the map names the stretches of a thread in order; one that is the caller's alone, and within the tokens asked for", async (t) => {
  const at = await world(t);
  const map = await at.ask("GET", "/api/threads/t/map", "ada");
  const { thread, stretches, lines } = JSON.parse(map.text);
  assert.deepEqual([thread, lines.length], ["t", stretches]);
  assert.ok(lines.every(({ from, to }: { from: number; to: number }) => from <= to));
  const other = await at.ask("GET", "/api/threads/t/map", "bob");
  assert.equal(other.status, 404);
  const wrong = await at.ask("GET", "/api/threads/t/map?tokens=1", "ada");
  assert.deepEqual([wrong.status, codeOf(wrong)], [400, "invalid"]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { countOf, indexEntry, MOST_PASSAGES, passageStarts } from "./entry.ts";
import { MemoryIndex } from "./memory-index.ts";
import { search } from "./search.ts";

const AT = "2024-01-01T00:00:00.000Z";
const SENTENCE = "Some words fill this place and say nothing at all to anybody. ";

test("a long text is cut at sentences into passages of some 500 characters, a short one is not cut", () => {
  const starts = passageStarts(SENTENCE.repeat(30));
  assert.equal(starts[0], 0);
  assert.ok(starts.length > 3);
  for (const [at, start] of starts.entries()) {
    assert.equal(start % SENTENCE.length, 0);
    assert.ok((starts[at + 1] ?? SENTENCE.length * 30) - start <= 500);
  }
  assert.deepEqual(passageStarts(SENTENCE.repeat(8)), [0]);
  assert.deepEqual(passageStarts(""), [0]);
});

test("a text of any length has at most so many passages, also without a border", () => {
  for (const text of ["a".repeat(100_000), SENTENCE.repeat(2_000), "x\n".repeat(50_000)])
    assert.ok(passageStarts(text).length <= MOST_PASSAGES);
});

test("an entry says in which passages a term stands; a short one has none", () => {
  const { passages } = indexEntry({
    text: `zebra ${SENTENCE.repeat(40)}zebra`,
    speaker: "user",
    at: AT,
  });
  assert.equal(countOf(passages!.get("zebra")!), 2);
  assert.equal(indexEntry({ text: "zebra", speaker: "user", at: AT }).passages, undefined);
});

test("of two long messages with the same words the one that holds them in one place comes first", async () => {
  const index = new MemoryIndex();
  const put = (seq: number, text: string): void =>
    index.put({ threadId: "t", seq }, indexEntry({ text, speaker: "assistant", at: AT }));
  put(1, `The zebra. ${SENTENCE.repeat(12)} The bridge.`);
  for (let seq = 2; seq < 8; seq += 1) put(seq, SENTENCE.repeat(14));
  put(8, `${SENTENCE.repeat(12)} The zebra on the bridge.`);
  for (let seq = 9; seq < 14; seq += 1) put(seq, SENTENCE.repeat(14));
  const result = await search(index, { kind: "thread", threadId: "t" }, "zebra bridge");
  assert.equal(result.kind === "found" && result.hits[0]!.doc.seq, 8);
});

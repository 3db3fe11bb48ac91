import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cosine, PROPOSED, packVector, withCloseness, withProposals } from "./closeness.ts";
import { indexEntry } from "./entry.ts";
import { MemoryIndex } from "./memory-index.ts";
import type { IndexedDoc } from "./port.ts";
import type { RankedHit } from "./rank.ts";
import { search } from "./search.ts";

test("a packed vector keeps its direction, whatever its length, and nothing comes of nothing", () => {
  const vector = [0.3, -0.2, 0.05, 0.9];
  const tenfold = vector.map((value) => value * 10);
  assert.ok(cosine(packVector(vector)!, packVector(tenfold)!)! > 0.999);
  assert.ok(Math.abs(cosine(packVector([1, 0])!, packVector([1, 1])!)! - Math.SQRT1_2) < 0.01);
  for (const none of [[], [0, 0], [Number.NaN, 1], [Number.POSITIVE_INFINITY]]) assert.equal(packVector(none), null);
  assert.equal(cosine(packVector([1, 0])!, packVector([1, 0, 0])!), null);
});

test("the nearer of two hits of about the same score goes first; far ahead by words stays ahead", () => {
  const hit = (seq: number, score: number, exact = 0) => ({ doc: { seq }, score, exact }) as RankedHit;
  const order = (hits: readonly RankedHit[], cosines: readonly (number | null)[]) =>
    withCloseness(hits, cosines).map(({ doc }) => doc.seq);
  assert.deepEqual(order([hit(1, 10), hit(2, 9)], [0.1, 0.8]), [2, 1]);
  assert.deepEqual(order([hit(1, 10), hit(2, 5)], [0.1, 0.8]), [1, 2]);
  assert.deepEqual(order([hit(1, 10), hit(2, 9)], [null, null]), [1, 2]);
  assert.deepEqual(order([hit(1, 1, 1), hit(2, 9)], [0.1, 0.8]), [1, 2]);
});

test("a search takes it as an extra term, and finds the same messages without", async () => {
  const index = new MemoryIndex();
  const say = (seq: number, text: string) =>
    index.put({ threadId: "t", seq }, indexEntry({ text, speaker: "Ann", at: `2024-01-0${seq}T10:00:00Z` }));
  say(1, "the blue bicycle");
  say(2, "the blue bicycle");
  say(3, "nothing of it");
  const ask = async (closeness?: (seq: number) => number) => {
    const options = closeness && {
      closeness: async (docs: readonly { seq: number }[]) => docs.map((doc) => closeness(doc.seq)),
    };
    const result = await search(index, { kind: "thread", threadId: "t" }, "blue bicycle", options);
    return result.kind === "found" ? result.hits.map(({ doc }) => doc.seq) : [];
  };
  assert.deepEqual(await ask(), [2, 1]);
  assert.deepEqual(await ask((seq) => (seq === 1 ? 0.9 : 0.1)), [1, 2]);
});

test("proposals stand between the hits from the eleventh place on, each message once, and none of the hits is lost", () => {
  const doc = (seq: number) => ({ threadId: "t", seq }) as IndexedDoc;
  const seqs = fc.uniqueArray(fc.nat(60), { maxLength: 40 });
  fc.assert(
    fc.property(seqs, seqs, (found, proposed) => {
      const hits = found.map((seq, at) => ({ doc: doc(seq), score: 100 - at }));
      const order = withProposals(hits, proposed.map(doc));
      const placed = order.map(({ doc: { seq } }) => seq);
      assert.deepEqual(placed.slice(0, Math.min(10, found.length)), found.slice(0, 10));
      assert.equal(new Set(placed).size, placed.length);
      for (const seq of found) assert.ok(placed.includes(seq));
      const added = placed.filter((seq) => !found.includes(seq));
      assert.ok(added.length <= PROPOSED);
      for (const {
        doc: { seq },
        score,
      } of order)
        assert.equal(score, found.includes(seq) ? 100 - found.indexOf(seq) : 0);
    }),
  );
  const twelve = Array.from({ length: 12 }, (_, at) => ({ doc: doc(at), score: 12 - at }));
  const order = withProposals(twelve, [3, 50, 11, 51].map(doc)).map(({ doc: { seq } }) => seq);
  assert.deepEqual(order.slice(10), [50, 10, 11, 51]);
});

test("where words find nothing, what an embedder proposes is found", async () => {
  const index = new MemoryIndex();
  index.put({ threadId: "t", seq: 1 }, indexEntry({ text: "a dog", speaker: "Ann", at: "2024-01-01T10:00:00Z" }));
  const scope = { kind: "thread", threadId: "t" } as const;
  const docs = await index.candidates(scope, { terms: ["dog"], seeks: [{ all: ["dog"], limit: 1 }], reach: 0 });
  const result = await search(index, scope, "canine", { propose: async () => docs });
  assert.deepEqual(result.kind === "found" && result.hits.map(({ doc: { seq }, score }) => [seq, score]), [[1, 0]]);
  assert.equal((await search(index, scope, "canine")).kind, "nothing");
});

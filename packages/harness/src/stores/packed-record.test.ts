import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { type ChainedRecord, chain, type NewRecord } from "@palimpsest/core/internal/log";
import fc from "fast-check";
import { sha256 } from "../thread/writer.ts";
import { packRecord } from "./pack-record.ts";
import { SHORT_BODY, unpackRecord } from "./packed-record.ts";

const AT = "2026-11-16T01:02:03.004Z";

function same(record: ChainedRecord): number {
  const row = packRecord(record)!;
  const { header, body, bodyHash, hash } = record;
  assert.deepEqual(plain(unpackRecord(row, record.seq)), { header, body, bodyHash, hash });
  const { header: kept, shape, packed } = row;
  const short = row.body !== null && Buffer.byteLength(row.body) < SHORT_BODY ? row.body : null;
  const bare = unpackRecord({ header: kept, shape, packed, short }, record.seq);
  assert.deepEqual(plain(bare), { header, body: null, bodyHash, hash });
  const text = [row.header, row.body ?? ""].reduce((sum, one) => sum + Buffer.byteLength(one), 0);
  return text + row.packed.length + (row.zipped?.length ?? 0);
}

/** Its hashes asked for. */
const plain = ({ header, body, bodyHash, hash }: ReturnType<typeof unpackRecord>) => ({ header, body, bodyHash, hash });

function recordOf(fields: object): ChainedRecord {
  return chain({ version: 6, hash: sha256("") }, [{ at: AT, runId: null, ...fields } as NewRecord], sha256)[0]!;
}

const message = (fields: object): ChainedRecord =>
  recordOf({ kind: "message", id: randomUUID(), dialect: "ai-sdk", origin: "user", body: "{}", ...fields });

test("a record comes back as the very text that was hashed, whatever its fields hold", () => {
  const anything = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom(
      AT,
      "2026-13-16T01:02:03.004Z",
      "+012026-11-16T01:02:03.004Z",
      randomUUID(),
      sha256("a"),
      '","seq":6,"',
    ),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.maxSafeNat(),
    fc.constant(null),
  );
  const text = fc.oneof(fc.string({ unit: "binary", maxLength: 40 }), fc.string({ minLength: 900, maxLength: 3000 }));
  const body = fc.oneof(
    text.map((content) => JSON.stringify({ role: "user", content })),
    text.map((content) => JSON.stringify({ role: "assistant", content: [{ type: "text", text: content }] })),
    text,
  );
  const fields = { id: anything, runId: anything, prefix: anything, dialect: anything, other: anything, body };
  fc.assert(
    fc.property(fc.record(fields), (given) => {
      same(message(given));
    }),
  );
  const measured = fc.record({ compaction: anything, prune: anything, promptHash: anything });
  fc.assert(
    fc.property(fc.record({ of: anything, model: anything, measured, input: anything, factor: anything }), (given) => {
      same(recordOf({ kind: "usage", ...given }));
    }),
  );
});

test("headers of more shapes than are kept taken apart come back each time", () => {
  const records = Array.from({ length: 300 }, (_, index) => recordOf({ kind: "usage", of: 6, model: `m${index}` }));
  for (let round = 0; round < 2; round += 1) for (const record of records) same(record);
});

/** An answer and the report on it, written together. */
function answered(answer: object, usage: object): readonly [ChainedRecord, ChainedRecord] {
  const fields = { at: AT, runId: randomUUID() };
  const first = { kind: "message", id: randomUUID(), dialect: "ai-sdk", origin: "model", body: "{}", ...fields };
  const second = { kind: "usage", of: 7, model: "m", measured: {}, input: 1, ...fields };
  const records = [{ ...first, ...answer } as NewRecord, { ...second, ...usage } as NewRecord];
  const [one, two] = chain({ version: 6, hash: sha256("") }, records, sha256);
  return [one!, two!];
}

test("a usage record that leans on its answer comes back as the very text that was hashed, whatever both hold", () => {
  const id = randomUUID();
  const value = fc.oneof(
    fc.constantFrom(AT, id, sha256("a"), null, 7, 300, "word", '"quoted"', "\u0001"),
    fc.string({ unit: "binary" }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  );
  const long = fc.record({ runId: value, id: value, at: value, prefix: value, body: fc.string({ maxLength: 1500 }) });
  const report = fc.record({ runId: value, at: value, of: value, model: value, other: value, factor: value });
  fc.assert(
    fc.property(long, report, (message, usage) => {
      const [answer, record] = answered(message, usage);
      const before = packRecord(answer)!;
      const row = packRecord(record, before)!;
      const { header, body, bodyHash, hash } = record;
      assert.deepEqual(plain(unpackRecord({ ...row, before: before.packed }, 8)), { header, body, bodyHash, hash });
    }),
  );
});

test("a usage record takes its run, its time and most of its hash from the answer just before it", () => {
  const [answer, record] = answered({}, {});
  const before = packRecord(answer)!;
  const row = packRecord(record, before)!;
  assert.equal(packRecord(record)!.packed.length - row.packed.length, 28 + 15 + 5);
  assert.equal(unpackRecord({ ...row, before: before.packed }, 8).hash, record.hash);
  assert.deepEqual(packRecord(record, row), packRecord(record), "one that leans itself is no support");
  assert.deepEqual(packRecord(record, packRecord(message({}))), packRecord(record), "nor is another record");
});

test("a usage record that was changed, or whose answer is gone, is told", () => {
  const [answer, record] = answered({}, {});
  const before = packRecord(answer)!;
  const row = packRecord(record, before)!;
  const { shape } = row;
  const changed = unpackRecord({ ...row, shape: shape!.replace('"m"', '"n"'), before: before.packed }, 8);
  assert.equal(changed.hash, record.hash.slice(0, 8));
  assert.equal(unpackRecord({ ...row, before: null }, 8).hash, "");
});

test("a header is a shape that is shared and some bytes of its own, and short words stand alone", () => {
  const [one, other] = ["How are you?", "Well, and you?"].map((content) =>
    packRecord(message({ runId: randomUUID(), body: JSON.stringify({ role: "user", content }) })),
  );
  assert.equal(one!.shape, other!.shape);
  assert.equal(one!.body, "How are you?");
  assert.equal(one!.packed.length, 78);
});

test("every kind of record comes back, with a body or without", () => {
  const body = { kind: "compaction", covers: [1, 6], folds: null, summary: { text: "a b ".repeat(900) } };
  assert.ok(same(recordOf(body)) < 400);
  for (const fields of [
    { kind: "event", event: { type: "x" } },
    { kind: "undo", of: 3 },
    { kind: "state", patch: { title: "t" } },
    { kind: "evidence", of: 1, ids: ["a"], hash: "h", text: "said" },
  ])
    same(recordOf(fields));
});

test("a shape holds nobody's words", () => {
  const words = message({ id: "my-secret", runId: "of mine", note: "private" });
  assert.doesNotMatch(packRecord(words)!.shape!, /secret|mine|private/);
  assert.equal(packRecord(message({ note: 'a "quoted" word' }))!.shape, null);
});

test("what was hashed otherwise, or holds a mark of ours, stays text", () => {
  assert.equal(packRecord({ ...message({}), hash: "short" }), null);
  const odd = { ...message({}), header: '{"seq":7,"x":"\u0001"}' };
  assert.equal(packRecord(odd)!.header, odd.header);
  same(odd);
});

test("a damaged row is read as a record that nothing vouches for", () => {
  const row = packRecord(message({ body: JSON.stringify({ role: "user", content: "long ".repeat(4000) }) }))!;
  const damages = [
    { packed: row.packed.slice(0, 70) },
    { zipped: row.zipped!.slice(5) },
    { packed: new Uint8Array(0) },
  ];
  for (const damage of damages) assert.equal(unpackRecord({ ...row, ...damage }, 7).hash, "");
});

test("a short body that was changed is told, and one that was erased keeps the hash of what was there", () => {
  const record = message({ body: JSON.stringify({ role: "user", content: "two" }) });
  const row = packRecord(record)!;
  assert.equal(unpackRecord({ ...row, body: "too" }, record.seq).bodyHash, record.bodyHash!.slice(0, 8));
  same({ ...record, body: '{"role":"user","content":"[erased]"}' });
});

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { type ChainedRecord, chain, type NewRecord } from "@palimpsest/core/internal/log";
import fc from "fast-check";
import { sha256 } from "../../thread/writer.ts";
import { fromRow, type RecordRow, textRow, WRITTEN_COLUMNS, writtenColumns } from "./record-row.ts";

const AT = "2026-11-16T01:02:03.004Z";

function recordOf(fields: object): ChainedRecord {
  return chain({ version: 6, hash: sha256("") }, [{ at: AT, runId: null, ...fields } as NewRecord], sha256)[0]!;
}

const message = (fields: object) =>
  recordOf({ kind: "message", id: randomUUID(), dialect: "ai-sdk", origin: "user", body: "{}", ...fields });

function rowOf(record: ChainedRecord): RecordRow {
  const names = WRITTEN_COLUMNS.split(", ");
  const values = writtenColumns([record]).map(([value], index) => [names[index], value]);
  return { redacted: false, ...Object.fromEntries(values) } as RecordRow;
}

function same(record: ChainedRecord): RecordRow {
  const row = rowOf(record);
  const { header, body, bodyHash, hash, kind, seq } = fromRow(row).chained;
  assert.deepEqual(
    { header, body, bodyHash, hash, kind, seq },
    {
      header: record.header,
      body: record.body,
      bodyHash: record.bodyHash,
      hash: record.hash,
      kind: record.kind,
      seq: record.seq,
    },
  );
  return row;
}

test("a record comes back as the very text that was hashed, whatever its fields hold", () => {
  const anything = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom(AT, randomUUID(), sha256("a"), 'ai-sdk","origin":"user"}', '{"v":3', null),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  );
  const body = fc.oneof(fc.string(), fc.string({ minLength: 9000, maxLength: 9100 }));
  const fields = { id: anything, runId: anything, dialect: anything, origin: anything, other: anything, body };
  fc.assert(fc.property(fc.record(fields), (given) => void same(message(given))));
  const measured = fc.record({ compaction: anything, rules: anything, promptHash: anything });
  const usage = { of: anything, model: anything, measured, input: anything, flaw: anything };
  fc.assert(fc.property(fc.record(usage), (given) => void same(recordOf({ kind: "usage", ...given }))));
});

test("the header of an ordinary message and of a report are a few characters beside their values", () => {
  const runId = randomUUID();
  const { header } = same(message({ runId }));
  assert.equal(header.length, 4);
  const measured = { compaction: 3, prune: null, promptHash: sha256("") };
  const counted = { input: 812, output: 20, cacheRead: 0, cacheWrite: 0, factor: 1.02, flaw: null };
  const report = same(recordOf({ kind: "usage", runId, of: 6, model: "claude", measured, ...counted }));
  assert.equal(report.header.length, "claude".length + 6);
});

test("what was erased, and what has other hashes than ours, is text", () => {
  const { seq, header, body } = message({});
  const text = textRow({ header, body, bodyHash: null, hash: "none of ours" });
  const row = { seq, kind: "m", redacted: true, ...text };
  assert.equal(fromRow(row).chained.hash, "none of ours");
  assert.equal(fromRow(row).redacted, true);
  assert.equal(same({ ...message({}), hash: "short" }).header.startsWith("{"), true);
});

test("a damaged row is read as a record that no hash fits", () => {
  const row = rowOf(message({}));
  assert.equal(fromRow({ ...row, packed: row.packed.subarray(0, 40) }).chained.hash, "");
});

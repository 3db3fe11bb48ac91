import assert from "node:assert/strict";
import { test } from "node:test";
import type { IndexedSegment } from "../stores/search-tables.ts";
import { nextPart, nextStep, partSize, progressOf, SHARE_RECORDS, shareOf } from "./stored-index.ts";

function segment(fields: Partial<IndexedSegment>): IndexedSegment {
  return {
    threadId: "t",
    through: 10,
    cut: null,
    indexed: 10,
    newest: null,
    entries: 0,
    length: 0,
    ...fields,
  };
}

function upTo(ordinal: number): Pick<IndexedSegment, "newest"> {
  return { newest: { ordinal, session: 1, at: "2026-01-01T00:00:00.000Z" } };
}

const merging = { blocks: 16, by: "filler" } as never;
const byJobs = { blocks: 16, by: "job", from: 20 } as never;

test("what is next: full blocks are merged, then the oldest part that lacks something is filled, then it is done", () => {
  const tables = { blockSize: 100, merging };
  for (const [segments, step] of [
    [[], { kind: "done" }],
    [[segment({})], { kind: "done" }],
    [[segment({ indexed: 9 })], { kind: "fill", at: 0 }],
    [[segment({ threadId: "p", cut: 3 }), segment({ indexed: 0 })], { kind: "fill", at: 1 }],
    [[segment({ threadId: "p", cut: 3, indexed: 1 }), segment({ indexed: 0 })], { kind: "fill", at: 0 }],
    [[segment({ indexed: 9, ...upTo(1599) })], { kind: "fill", at: 0 }],
    [[segment({ indexed: 9, ...upTo(1600) })], { kind: "merge", threadId: "t" }],
    [[segment({ ...upTo(1600), merged: 16 })], { kind: "done" }],
    [[segment({ ...upTo(3200), merged: 16 })], { kind: "merge", threadId: "t" }],
    [[segment({ threadId: "p", cut: 3, ...upTo(1600) }), segment({})], { kind: "merge", threadId: "p" }],
  ] as const)
    assert.deepEqual(nextStep(segments, tables), step);
  assert.deepEqual(nextStep([segment({ ...upTo(9999) })], { blockSize: 100 }), { kind: "done" });
});

test("where merging takes long, jobs alone do it, and a part is written by its blocks", () => {
  const tables = { blockSize: 100, merging: byJobs };
  const full = [segment({ ...upTo(2000) })];
  assert.deepEqual(nextStep(full, tables, "filler"), { kind: "done" });
  assert.deepEqual(nextStep(full, tables, "job"), { kind: "merge", threadId: "t" });
  assert.deepEqual(nextStep(full, { blockSize: 100, merging }, "filler"), { kind: "merge", threadId: "t" });
  assert.deepEqual(nextStep([segment({ ...upTo(1999) })], tables, "job"), { kind: "done" }, "too few");
  assert.equal(nextPart({ through: 1600, indexed: 0 }, null, tables, 9999), null);
  assert.deepEqual([partSize(tables), partSize({ blockSize: 100, merging })], [100, 1600]);
});

test("a part is written as one where nothing of it is there and enough is left to fill it", () => {
  const tables = { blockSize: 100, merging };
  const start = { through: 1600, indexed: 0 };
  for (const [fields, newest, most, part] of [
    [start, null, 1600, 0],
    [start, null, 1599, null],
    [{ ...start, through: 1599 }, null, 9999, null],
    [{ ...start, merged: 16 }, upTo(1599).newest, 9999, 16],
    // It has begun, or those before it aren't merged.
    [{ ...start, merged: 16 }, upTo(1600).newest, 9999, null],
    [{ ...start, merged: 0 }, upTo(1599).newest, 9999, null],
    [{ ...start, merged: 0 }, upTo(99).newest, 9999, null],
  ] as const)
    assert.equal(nextPart(fields, newest, tables, most), part);
  assert.equal(nextPart(start, null, { blockSize: 100 }, 9999), null);
});

test("how far an index is counts each record of a lineage once, and all of a user's threads", () => {
  const parent = segment({ threadId: "p", through: 6, cut: 3, indexed: 4 });
  assert.deepEqual(progressOf([parent, segment({ through: 20, indexed: 15 })]), { indexed: 13, records: 20 });
  const threads = [segment({}), segment({ through: 30, indexed: 0 })];
  assert.deepEqual(progressOf(threads), { indexed: 10, records: 40 });
});

test("a caller indexes its share; the rest is asked for once, and what somebody is at is left to them", () => {
  const late = (...sizes: number[]) => sizes.map((missing, index) => ({ threadId: `t${index}`, missing }));
  const most = SHARE_RECORDS;
  for (const [sizes, jobs, here, queued] of [
    [[most + 1], [], ["t0"], ["t0"]],
    [[most + 1], [{ threadId: "t0", state: "waiting" }], ["t0"], []],
    [[most + 1], [{ threadId: "t0", state: "dead" }], ["t0"], ["t0"]],
    [[most + 1], [{ threadId: "t0", state: "running" }], [], []],
    [[5, most, 7], [], ["t0", "t1"], ["t1", "t2"]],
    [[5, most * 9, 7], [{ threadId: "t1", state: "running" }], ["t0", "t2"], []],
  ] as const)
    assert.deepEqual(shareOf(late(...sizes), jobs), { here, queued });
});

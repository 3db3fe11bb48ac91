import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { type ChainedRecord, chain, checkThreadId, type NewRecord, parseRecord, RecordError } from "./chain.ts";
import { advance, emptyHead, type Head, headFold } from "./head.ts";
import { FORMAT_VERSION } from "./record.ts";
import { chainVerifier, type Verdict } from "./verify.ts";

const hash = (text: string) => createHash("sha256").update(text).digest("hex");
const at = "2026-01-01T00:00:00.000Z";

function message(content: string): NewRecord {
  const body = JSON.stringify({ role: "user", content });
  return {
    kind: "message",
    at,
    runId: null,
    id: `m-${content}`,
    dialect: "openai",
    origin: "user",
    body,
  };
}

const SAMPLES: readonly NewRecord[] = [
  message("one"),
  {
    kind: "prune",
    at,
    runId: "r",
    entries: [{ target: 1, part: 0, replacement: "…", reason: "clamped" }],
    tokensBefore: 9,
    tokensAfter: 3,
  },
  {
    kind: "compaction",
    at,
    runId: "r",
    covers: [1, 1],
    folds: null,
    request: null,
    systems: [],
    summary: { format: "pair", text: "said one", digest: null, state: { facts: [] } },
    rung: "summarize",
    reason: "trigger",
    tokensBefore: 9,
    tokensAfter: 3,
    archive: "history/part-1-1.jsonl",
    checkpoint: null,
  },
  { kind: "pin", at, runId: null, target: 1, on: true },
  { kind: "undo", at, runId: null, of: 3 },
  {
    kind: "usage",
    at,
    runId: "r",
    of: 1,
    model: "m",
    measured: { compaction: null, prune: null, promptHash: "p" },
    input: 10,
    output: 1,
    cacheRead: 0,
    cacheWrite: 0,
    factor: 1.1,
    flaw: null,
  },
  {
    kind: "evidence",
    at,
    runId: null,
    of: 1,
    text: "lent",
    ids: ["f1"],
    hash: "h",
  },
  { kind: "state", at, runId: null, patch: { title: "T" } },
  { kind: "event", at, runId: null, event: { type: "noted", detail: 1 } },
];

function log(records: readonly NewRecord[]): { records: ChainedRecord[]; head: Head } {
  const chained = chain(emptyHead(at), records, hash);
  const fold = headFold(at);
  for (const one of chained) fold.add(one);
  return { records: chained, head: fold.head() };
}

function verdict(records: readonly ChainedRecord[], head: Head): Verdict {
  const verifier = chainVerifier(hash);
  for (const record of records) verifier.add(record);
  return verifier.finish(head);
}

function firstBad(records: readonly ChainedRecord[], head: Head) {
  const result = verdict(records, head);
  return result.kind === "broken" ? [result.firstBad.seq, result.firstBad.flaw] : result.kind;
}

test("every kind of record comes back as it was given", () => {
  const { records } = log(SAMPLES);
  const back = records.map((one) => parseRecord(one));
  assert.deepEqual(
    back,
    SAMPLES.map((record, index) => ({ ...record, v: 3, seq: index + 1 })),
  );
});

test("a header is spelled in a fixed order whatever order its fields came in", () => {
  const record: NewRecord = Object.assign({}, SAMPLES[5]!, { later: "a field of tomorrow" });
  const shuffled = Object.fromEntries(Object.entries(record).reverse()) as unknown as NewRecord;
  const [one, other] = [record, shuffled].map((given) => chain(emptyHead(at), [given], hash)[0]!);
  assert.equal(one!.header, other!.header);
  assert.match(one!.header, /^\{"v":3,"seq":1,"kind":"usage","at":.*"later":"a field of tomorrow"\}$/);
});

test("what may be erased stands in the body and not in the header", () => {
  for (const record of log(SAMPLES).records) {
    const erasable = ["message", "prune", "compaction", "evidence", "state"].includes(record.kind);
    assert.equal(record.body !== null, erasable, record.kind);
    assert.equal(record.bodyHash !== null, erasable, record.kind);
    assert.ok(!/"(body|entries|summary|text|patch)":/.test(record.header), record.header);
  }
});

test("appending in two batches gives the same chain as in one", () => {
  const whole = log(SAMPLES);
  const first = log(SAMPLES.slice(0, 4));
  const second = chain(first.head, SAMPLES.slice(4), hash);
  assert.deepEqual([...first.records, ...second], whole.records);
});

test("a record says the oldest version whose readers understand it: only a newer dialect needs a newer one", () => {
  const body = "{}";
  const versions = (["openai", "anthropic", "ai-sdk", "gemini", "openai-responses", "langchain"] as const).map(
    (dialect) => {
      const common = { at, runId: null, body } as const;
      const record: NewRecord = { ...common, kind: "message", id: dialect, dialect, origin: "import" };
      return parseRecord(log([record]).records[0]!).v;
    },
  );
  assert.deepEqual(versions, [3, 3, 3, 4, 4, 4]);
});

test("cuts that people choose and rules need the newest version: older readers would show another prompt", () => {
  const common = { at, runId: null, tokensBefore: 2, tokensAfter: 1 } as const;
  const entry = { target: 1, part: 0, replacement: "x" } as const;
  const records: NewRecord[] = [
    { ...common, kind: "prune", entries: [{ ...entry, reason: "clamped" }] },
    { ...common, kind: "prune", entries: [{ ...entry, reason: "hidden" }] },
    { ...common, kind: "prune", entries: [{ ...entry, part: -1, from: 1, reason: "folded" }] },
    { at, runId: null, kind: "state", patch: { title: "a" } },
    { at, runId: null, kind: "state", patch: { rules: { next: 1, list: [] } } },
  ];
  const versions = log(records).records.map((record) => parseRecord(record).v);
  assert.deepEqual(versions, [3, FORMAT_VERSION, FORMAT_VERSION, 3, FORMAT_VERSION]);
});

test("[F45] a record of a newer format is refused by name, with the way out", () => {
  const [record] = log(SAMPLES).records;
  const newer = { ...record!, header: record!.header.replace('"v":3', `"v":${FORMAT_VERSION + 1}`) };
  assert.throws(
    () => parseRecord(newer),
    (error: unknown) =>
      error instanceof RecordError && error.code === "newer-version" && /record 1 .*update/.test(error.message),
  );
  assert.throws(() => parseRecord({ seq: 7, header: "{", body: null }), /record 7 can't be read/);
  assert.throws(
    () => parseRecord({ seq: 7, header: '{"v":1,"kind":"nonsense"}', body: null }),
    /"nonsense" is unknown/,
  );
});

test("an untouched log is whole", () => {
  const { records, head } = log(SAMPLES);
  assert.deepEqual(verdict(records, head), { kind: "whole", records: SAMPLES.length, redacted: [], rewritten: [] });
  assert.equal(verdict([], emptyHead(at)).kind, "whole");
});

test("every way of tampering is found and the first bad record named", () => {
  const { records, head } = log(SAMPLES);
  const changed = (index: number, fields: Partial<ChainedRecord>) =>
    records.with(index, { ...records[index]!, ...fields });
  const [third, fourth] = [records[2]!, records[3]!];
  assert.deepEqual(firstBad(changed(2, { body: '{"text":"other"}' }), head), [3, "changed-body"]);
  assert.deepEqual(firstBad(changed(2, { body: null }), head), [3, "changed-body"]);
  assert.deepEqual(firstBad(changed(3, { header: fourth.header.replace('"target":1', '"target":2') }), head), [
    4,
    "broken-link",
  ]);
  assert.deepEqual(firstBad(changed(3, { hash: "0" }), head), [4, "broken-link"]);
  assert.deepEqual(firstBad(changed(3, { kind: "event" }), head), [4, "changed-header"]);
  assert.deepEqual(firstBad(records.slice(0, -1), head), [records.length, "missing-records"]);
  assert.deepEqual(firstBad(records.toSpliced(3, 1), head), [4, "wrong-seq"]);
  const swapped = records.with(2, { ...fourth, seq: 3 }).with(3, { ...third, seq: 4 });
  assert.deepEqual(firstBad(swapped, head), [3, "broken-link"]);
  assert.deepEqual(firstBad(records, { ...head, version: head.version - 1 }), [records.length, "unknown-records"]);
  assert.deepEqual(firstBad(records, { ...head, hash: "0" }), [records.length, "wrong-head"]);
});

test("a body and its hash replaced together still break the chain", () => {
  const { records, head } = log(SAMPLES);
  const forged = { ...records[0]!, body: '"forged"', bodyHash: hash('"forged"') };
  assert.deepEqual(firstBad(records.with(0, forged), head), [1, "broken-link"]);
});

test("a replaced body passes only under a receipt that names its hash", () => {
  const skeleton = '{"role":"user","content":"[redacted]"}';
  const receipt: NewRecord = {
    kind: "event",
    at,
    runId: null,
    event: { type: "redacted", target: 1, bodies: [{ seq: 1, hash: hash(skeleton) }] },
  };
  const { records, head } = log([message("secret"), message("two"), receipt]);
  const erased = records.with(0, { ...records[0]!, body: skeleton });
  assert.deepEqual(verdict(erased, head), { kind: "whole", records: 3, redacted: [1], rewritten: [] });
  const other = records.with(0, { ...records[0]!, body: '"something else"' });
  assert.deepEqual(firstBad(other, head), [1, "changed-body"]);
  const another = erased.with(1, { ...records[1]!, body: skeleton });
  assert.deepEqual(firstBad(another, head), [2, "changed-body"]);
});

test("a replaced header passes only under a receipt that names its hash, and beside no body", () => {
  const receipt = (seq: number, header: string): NewRecord => ({
    kind: "event",
    at,
    runId: null,
    event: { type: "redacted", target: seq, bodies: [], headers: [{ seq, hash: hash(header) }] },
  });
  const said: NewRecord = { kind: "event", at, runId: null, event: { type: "request", system: "secret" } };
  const blank = (header: string) => header.replace("secret", "[redacted]");
  const before = log([message("one"), said, message("two")]);
  const header = blank(before.records[1]!.header);
  const { records, head } = log([message("one"), said, message("two"), receipt(2, header)]);
  const erased = records.with(1, { ...records[1]!, header });
  assert.deepEqual(verdict(erased, head), { kind: "whole", records: 4, redacted: [2], rewritten: [] });
  assert.deepEqual(firstBad(records.with(1, { ...records[1]!, header: `${header} ` }), head), [2, "broken-link"]);
  assert.deepEqual(firstBad(erased.with(1, { ...erased[1]!, hash: "0" }), head), [3, "broken-link"]);
  const forged = records[0]!.header.replace('"user"', '"model"');
  const other = log([message("one"), receipt(1, forged)]);
  assert.deepEqual(firstBad(other.records.with(0, { ...other.records[0]!, header: forged }), other.head), [
    1,
    "broken-link",
  ]);
});

test("half a surrogate pair in a body is chained as its escape", () => {
  const [record] = chain(emptyHead(at), [{ ...message("x"), body: '"a\udc00b\ud83d\ude00"' } as NewRecord], hash);
  assert.equal(record!.body, '"a\\udc00b\ud83d\ude00"');
});

test("only an undo looks at the structure: any other record advances the head alone", () => {
  let head = emptyHead(at);
  const withoutUndo = SAMPLES.filter((record) => record.kind !== "undo");
  for (const one of chain(head, withoutUndo, hash)) head = advance(head, one, parseRecord(one));
  assert.deepEqual(head, log(withoutUndo).head);
});

test("thread ids: what a path and a URL can carry, and nothing that climbs", () => {
  for (const id of ["a", "A.b_c-9", "0", "x".repeat(128)]) assert.equal(checkThreadId(id).kind, "valid", id);
  const bad = [
    "",
    "..",
    "a..b",
    ".a",
    "-a",
    "_a",
    "a/b",
    "a\\b",
    "a b",
    "ä",
    "a\n",
    "a\0",
    "x".repeat(129),
    "x".repeat(10_000),
  ];
  for (const id of bad) {
    const check = checkThreadId(id);
    assert.equal(check.kind, "invalid", id);
    assert.ok(check.kind === "invalid" && check.problem.length < 400, "the problem doesn't repeat a huge id");
  }
});

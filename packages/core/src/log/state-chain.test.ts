import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Json } from "./head.ts";
import { chainAfter, quoting, type StateChain, storedState, unquoted } from "./head.ts";
import { type CompactionRecord, FORMAT_VERSION } from "./record.ts";

const asJson = (value: unknown) => JSON.parse(JSON.stringify(value)) as Json;

test("strings that stand in the text beside them are named by their place, and come back", () => {
  const text = "- Keep src/main.ts at revision 7 [12]\n- @home is where it runs [14]";
  const value = ["Keep src/main.ts at revision 7", "@home", "@@", "short", { "Keep src/main.ts at revision 7": null }];
  const quoted = ["@2+30", "@@home", "@@@", "short", { "Keep src/main.ts at revision 7": null }];
  assert.deepEqual(quoting(value, text), quoted);
  assert.deepEqual(unquoted(quoted, text), value);
});

test("whatever the value and the text, quoting can be taken back", () => {
  const string = fc.oneof(fc.string(), fc.constantFrom("@1+2", "@", "a sentence of some length", "💥 half \ud83d"));
  fc.assert(
    fc.property(fc.jsonValue().map(asJson), fc.array(string), (value, words) => {
      const [text, whole] = [words.join(" "), [value, words] as Json];
      assert.deepEqual(unquoted(asJson(quoting(whole, text)), text), whole);
    }),
  );
});

/** The records of a thread whose compactions left these states, one folding the other. */
function recordsOf(states: readonly { state: Json; text: string }[]) {
  const records: CompactionRecord[] = [];
  let chain: StateChain | null = null;
  for (const [index, given] of states.entries()) {
    const summary = { format: "pair" as const, digest: null, ...given };
    const { checkpoint, state } = storedState(chain, summary);
    const record = asJson(recordOf(index, { ...summary, state }, checkpoint)) as unknown as CompactionRecord;
    records.push(record);
    chain = chainAfter(chain, record);
  }
  return records;
}

function recordOf(index: number, summary: CompactionRecord["summary"], checkpoint: number | null): CompactionRecord {
  const folds = index === 0 ? null : index * 10;
  return {
    v: FORMAT_VERSION,
    seq: (index + 1) * 10,
    at: "",
    runId: null,
    kind: "compaction",
    covers: [1, 1],
    folds,
    request: null,
    systems: [],
    rung: "extract",
    reason: "",
    tokensBefore: 2,
    tokensAfter: 1,
    archive: null,
    summary,
    checkpoint,
  };
}

/** As a reader does it: from the checkpoint on. */
function stateOf(records: readonly CompactionRecord[], index: number): Json {
  const from = records.findIndex(({ seq }) => seq === (records[index]!.checkpoint ?? records[index]!.seq));
  let chain: StateChain | null = null;
  for (const record of records.slice(from, index + 1)) chain = chainAfter(chain, record);
  return chain!.state;
}

test("the state of every compaction comes back as it was, from its checkpoint on", () => {
  const item = fc.record({ id: fc.nat(20).map((n) => `f${n}`), text: fc.string() }).map(asJson);
  const state = fc.oneof(
    { weight: 9, arbitrary: fc.record({ facts: fc.array(item, { maxLength: 20 }), through: fc.nat() }).map(asJson) },
    { weight: 1, arbitrary: fc.jsonValue().map(asJson) },
  );
  fc.assert(
    fc.property(fc.array(fc.record({ state, text: fc.string() }), { minLength: 1, maxLength: 30 }), (states) => {
      const records = recordsOf(states);
      for (const [index, { state: given }] of states.entries()) assert.deepEqual(stateOf(records, index), given);
    }),
  );
});

/** A state that grows by one fact and lets the oldest go, as a long conversation's does. */
function growing(count: number, facts = 40) {
  return Array.from({ length: count }, (_, index) => {
    const first = Math.max(0, index - facts);
    const list = Array.from({ length: index + 1 - first }, (_, n) => ({
      id: `f${first + n}`,
      text: `The fact number ${first + n} of this conversation, which takes a line.`,
    }));
    return { state: { facts: list } as Json, text: `The summary after ${index} facts.` };
  });
}

test("a record costs what it adds, and a reader never goes back far", () => {
  const records = recordsOf(growing(500));
  const sizes = records.map((record) => JSON.stringify(record.summary.state).length);
  const whole = JSON.stringify(growing(500).at(-1)!.state).length;
  assert.ok(sizes.reduce((sum, size) => sum + size, 0) < 500 * 250, `${sizes}`);
  const checkpoints = records.filter(({ checkpoint }) => checkpoint === null).length;
  assert.ok(checkpoints > 3 && checkpoints < 50, `${checkpoints} checkpoints`);
  for (const [index, record] of records.entries()) {
    const from = (record.checkpoint ?? record.seq) / 10 - 1;
    const read = sizes.slice(from + 1, index + 1).reduce((sum, size) => sum + size, 0);
    assert.ok(read <= 8 * whole, `${read} characters`);
  }
});

test("from an erased state nothing follows until one is stored whole again", () => {
  const states = growing(400);
  const records = recordsOf(states);
  const erased = 130;
  records[erased] = { ...records[erased]!, summary: { ...records[erased]!.summary, text: "[erased]", state: null } };
  const next = records.findIndex(({ checkpoint }, index) => index > erased && checkpoint === null);
  assert.ok(next > erased);
  for (const [index, { state }] of states.entries())
    assert.deepEqual(stateOf(records, index), index < erased || index >= next ? state : null, `compaction ${index}`);
  const after = storedState(chainAfter(null, records[erased]!), { ...records[0]!.summary, state: states[0]!.state });
  assert.deepEqual(after, { checkpoint: null, state: states[0]!.state });
});

test("compactions of older formats hold their states whole", () => {
  const { checkpoint: _, ...old } = recordOf(
    3,
    { format: "pair", text: "", digest: null, state: { facts: [1] } },
    null,
  );
  const chain = chainAfter(null, { ...old, v: 2 });
  assert.deepEqual(chain, { seq: 40, checkpoint: 40, length: 0, state: { facts: [1] } });
});

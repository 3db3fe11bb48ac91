import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { openSqlite } from "../stores/index.ts";
import { fork, headAt, undo, withWriter } from "../thread/acts.ts";
import { redact } from "../thread/redact.ts";
import { commit, createThread, type RecordInput, threadDeps } from "../thread/writer.ts";
import { HeadTrail } from "./head-trail.ts";

const message = (index: number): RecordInput => ({
  kind: "message",
  id: `m${index}`,
  dialect: "openai",
  origin: "import",
  body: JSON.stringify({ role: "user", content: `said ${index}` }),
});
const records: readonly ((index: number) => RecordInput)[] = [
  message,
  message,
  (index) => ({ kind: "state", patch: { [`key${index % 3}`]: index % 2 === 0 ? null : index } }),
  (index) => ({ kind: "event", event: { type: "note", index } }),
  () => ({ kind: "pin", target: 1, on: true }),
  () => ({ kind: "pin", target: 1, on: false }),
];

test("a trail has the same head for each place as the log, through forks of forks, in any order", async () => {
  const step = fc.nat(records.length - 1);
  const parts = fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(parts, fc.array(fc.nat(40), { maxLength: 12 }), async (threads, places) => {
      const store = openSqlite({ path: ":memory:" });
      const deps = threadDeps(store);
      let trail: HeadTrail | null = null;
      let at = 0;
      for (const [index, steps] of threads.entries()) {
        const id = `t${index}`;
        if (trail === null) await createThread(deps, { id }, [message(0)]);
        else assert.equal((await fork(deps, `t${index - 1}`, { as: id, at, headsAt: trail })).kind, "forked");
        const inputs = steps.map((kind, place) => records[kind]!(place));
        await withWriter(deps, id, (writer) => commit(writer, inputs));
        trail = new HeadTrail(store, id, trail === null ? null : { trail, seq: at });
        const { version } = (await store.head(id))!;
        for (const place of places) {
          const seq = 1 + (place % version);
          assert.deepEqual((await trail.at(seq, version))?.head, await headAt({ store }, id, seq));
        }
        at = 1 + ((places[0] ?? 0) % version);
      }
      await store.close();
    }),
    { numRuns: 60 },
  );
});

test("what was erased is left to the log: a fork has its receipt", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const deps = threadDeps(store);
  await createThread(deps, { id: "a" }, [1, 2, 3].map(message));
  const trail = new HeadTrail(store, "a");
  assert.notEqual(await trail.at(2, 3), null);
  assert.equal((await redact(deps, "a", 1)).kind, "redacted");
  await fork(deps, "a", { as: "b", at: 2, headsAt: trail });
  const events: string[] = [];
  for await (const { record } of store.records("b", { kinds: ["event"] }))
    if (record.kind === "event") events.push(record.event.type);
  assert.deepEqual(events, ["redacted"]);
});

test("a prune that was taken back is none, at every place", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const deps = threadDeps(store);
  await createThread(deps, { id: "a" }, [1, 2, 3].map(message));
  const entry = { target: 1, part: 0, replacement: "-", reason: "clamped" } as const;
  const prune: RecordInput = { kind: "prune", entries: [entry], tokensBefore: 9, tokensAfter: 3 };
  await withWriter(deps, "a", (writer) => commit(writer, [prune, message(4)]));
  assert.equal((await withWriter(deps, "a", (writer) => undo(writer))).kind, "done");
  const trail = new HeadTrail(store, "a");
  for (const seq of [6, 4, 5, 3]) assert.deepEqual((await trail.at(seq, 6))?.head, await headAt({ store }, "a", seq));
});

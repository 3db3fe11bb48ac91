import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { EventLog, type LogSlice } from "./run.ts";

test("a reader gets what comes behind the number it names, from the start or from the middle", () => {
  const log = new EventLog();
  assert.equal(log.last, 0);
  for (const event of ["a", "b", "c"]) log.append(event);
  assert.deepEqual(idsOf(log.after(0)), [1, 2, 3]);
  assert.deepEqual(log.after(2), { kind: "events", events: [{ id: 3, data: "c" }] });
  assert.deepEqual(log.after(3), { kind: "events", events: [] });
  assert.deepEqual(log.after(4), { kind: "ahead", last: 3 });
});

test("a slice is as long as asked for, and has one event at least", () => {
  const log = new EventLog();
  for (const event of ["aaaa", "bbbb", "cccc"]) log.append(event);
  assert.deepEqual(idsOf(log.after(0, 1)), [1]);
  assert.deepEqual(idsOf(log.after(0, 5)), [1, 2]);
});

test("beyond its bytes the oldest go, their readers are told, and the newest stays whatever its size", () => {
  const log = new EventLog(200);
  for (let count = 1; count <= 10; count += 1) log.append("x".repeat(18));
  assert.equal(log.last, 10);
  assert.deepEqual(log.after(0), { kind: "gone", first: 7 });
  assert.deepEqual(log.after(5), { kind: "gone", first: 7 });
  assert.deepEqual(idsOf(log.after(6)), [7, 8, 9, 10]);
  log.append("y".repeat(5000));
  assert.deepEqual(idsOf(log.after(10)), [11]);
  assert.deepEqual(log.after(9), { kind: "gone", first: 11 });
});

test("whatever is appended and dropped, a reader that keeps up sees every event once and in order", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 40 }), { maxLength: 60 }),
      fc.integer({ min: 1, max: 400 }),
      (all, most) => {
        const log = new EventLog(most);
        const seen: string[] = [];
        for (const [index, event] of all.entries()) {
          log.append(event);
          const slice = log.after(index);
          if (slice.kind === "events") seen.push(...slice.events.map(({ data }) => data));
          assert.ok(log.bytes <= most || log.after(log.last - 1).kind === "events");
        }
        assert.deepEqual(seen, all);
      },
    ),
  );
});

function idsOf(slice: LogSlice): number[] {
  return slice.kind === "events" ? slice.events.map(({ id }) => id) : [];
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { packEntry, packRest, timeSpeller, unpackEntries } from "./search-tables.ts";

const ENTRY = { ordinal: 7, seq: 12, session: 1, speaker: "user", length: 4, asks: true };

test("an entry comes back from its text as it was, whatever its time and speaker are", () => {
  const entries = [
    { ...ENTRY, at: "2026-11-16T01:02:03.004Z" },
    { ...ENTRY, at: "2026-11-16T01:02:03+01:00", speaker: "Ada", asks: false },
    { ...ENTRY, at: "some day", speaker: "assistant" },
    { ...ENTRY, at: "", speaker: "0" },
  ];
  const split = entries.map((entry) => `[${entry.ordinal},${entry.seq},${entry.length},[${packRest(entry)}]]`);
  for (const texts of [entries.map(packEntry), split]) {
    const read = unpackEntries("t", texts.join(","));
    assert.deepEqual(
      read,
      entries.map((entry) => ({ threadId: "t", ...entry })),
    );
  }
});

test("entries of before, with words for time and speaker, are read as they are", () => {
  const [entry] = unpackEntries("t", '[7,12,1,"2026-11-16T01:02:03.004Z","user",4,true]');
  assert.deepEqual(entry, { threadId: "t", ...ENTRY, at: "2026-11-16T01:02:03.004Z" });
});

test("times are spelled as Date spells them, in any order and at the ends of days, months and years", () => {
  const day = 86_400_000;
  const times = [0, -1, 1, 999, 1000, 59_999, 3_599_999, day - 1, day, Date.UTC(2024, 1, 29, 23, 59, 59, 7), 8.64e15];
  for (let step = 0; step < 500; step += 1) times.push(Date.UTC(1969, 11, 30) + step * 7_919_317_123);
  const spell = timeSpeller();
  for (const ms of [...times, ...times.toReversed()]) assert.equal(spell(ms), new Date(ms).toISOString());
});

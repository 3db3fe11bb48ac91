import assert from "node:assert/strict";
import { test } from "node:test";
import { packRest, timeSpeller, unpackEntries } from "./search-tables.ts";

const ENTRY = { ordinal: 7, seq: 12, session: 1, speaker: "user", length: 4, asks: true };

test("an entry comes back from its text as it was, whatever its time and speaker are", () => {
  const entries = [
    { ...ENTRY, at: "2026-11-16T01:02:03.004Z" },
    { ...ENTRY, at: "2026-11-16T01:02:03+01:00", speaker: "Ada", asks: false },
    { ...ENTRY, at: "some day", speaker: "assistant" },
    { ...ENTRY, at: "", speaker: "0" },
    { ...ENTRY, at: "1969-12-31T23:59:59.999Z" },
    { ...ENTRY, at: "1970-01-01T00:00:00.000Z", session: 0, asks: false },
    { ...ENTRY, at: "2109-05-15T07:35:11.103Z", session: 70_000, speaker: "assistant" },
    { ...ENTRY, at: "2109-05-15T07:35:11.104Z" },
  ];
  const split = entries.map((entry) => {
    const rest = packRest(entry);
    return `[${entry.ordinal},${entry.seq},${entry.length},${rest.includes(",") ? `[${rest}]` : `"${rest}"`}]`;
  });
  assert.deepEqual(
    unpackEntries("t", split.join(",")),
    entries.map((entry) => ({ threadId: "t", ...entry })),
  );
});

test("entries of before, with words for time and speaker or with a list beside their columns, are read as they are", () => {
  const [beside] = unpackEntries("t", "[7,12,4,[1,1794790923004,0,1]]");
  assert.deepEqual(beside, { threadId: "t", ...ENTRY, at: new Date(1_794_790_923_004).toISOString() });
  const [numbered] = unpackEntries("t", "[7,12,1,1794790923004,0,4,1]");
  assert.deepEqual(numbered, beside);
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

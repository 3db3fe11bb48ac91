import assert from "node:assert/strict";
import { test } from "node:test";
import { packEntry, packRest, unpackEntries } from "./search-tables.ts";

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

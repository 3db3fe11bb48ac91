import assert from "node:assert/strict";
import { test } from "node:test";
import { followUps } from "./search.ts";

const hit = (text: string, at = "2024-03-01T10:00:00Z", speaker = "Melanie") => ({
  threadId: "t",
  session: 0,
  seq: 1,
  at,
  speaker,
  text,
});

test("after a search comes what its hits name and the question doesn't: names by how many hits have them, days not shown", () => {
  const hits = [
    hit("We met Amy and Ellis at the shelter"),
    hit("So Mel and Amy went to Bergen", "2024-03-09T10:00:00Z"),
    hit("nothing of note", "2024-04-02T10:00:00Z"),
  ];
  const line = followUps("Who is in Bergen?", hits, hits.slice(0, 1));
  assert.equal(line, "(also named: Amy, Ellis; more from 2024-03-09, 2024-04-02)");
});

test("it is one short line, and nothing where there is nothing to add", () => {
  assert.equal(followUps("what", [], []), "");
  const plain = [hit("no names at all, and 17 things on May 3")];
  assert.equal(followUps("what", plain, plain), "");
  const many = Array.from({ length: 50 }, (_, at) =>
    hit(`we saw Name${at} there`, new Date(Date.UTC(2024, 0, at + 1)).toISOString()),
  );
  assert.ok(followUps("what", many, []).length < 120);
});

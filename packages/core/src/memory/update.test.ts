import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type MemoryUpdate, parseUpdate } from "./update.ts";

const IDS = new Map([
  [1, "fact-a"],
  [2, "fact-b"],
]);
const ANSWER = '{"additions": [{"content": "User likes tea", "confidence": 0.9, "quote": "I like tea", "seqs": [3]}]}';

test("[F62] the JSON is found in prose, fences and after thinking", () => {
  for (const answer of [
    ANSWER,
    `Here is the update you asked for:\n\n${ANSWER}\n\nLet me know!`,
    `\`\`\`json\n${ANSWER}\n\`\`\``,
    `<think>The user said {"additions": [{"content": "wrong"}]} maybe.</think>\n${ANSWER}`,
    `<thinking>hm</thinking>\`\`\`\n${ANSWER}\`\`\``,
  ]) {
    const { additions } = updateOf(answer);
    assert.deepEqual(
      additions.map(({ content, confidence, quote, seqs }) => ({ content, confidence, quote, seqs })),
      [{ content: "User likes tea", confidence: 0.9, quote: "I like tea", seqs: [3] }],
      answer,
    );
  }
});

test("[F62] of an answer that was cut off, whole items are kept and half ones are not", () => {
  const cut = '{"additions": [{"content": "User likes tea", "confidence": 0.9}, {"content": "User li';
  const parsed = parseUpdate(cut, IDS);
  assert.ok(parsed.kind === "update" && parsed.truncated);
  assert.deepEqual(
    parsed.update.additions.map(({ content }) => content),
    ["User likes tea"],
  );
});

test("[F62] small integers stand for facts, however they are written; others for none", () => {
  const answer =
    '{"updates": [{"id": 1}, {"id": "2"}, {"id": "[1]"}, {"id": "fact-b"}, {"id": 9}, {"id": null}, {}], "removals": [2, "#1", "x"]}';
  const { updates, removals } = updateOf(answer);
  assert.deepEqual(
    updates.map(({ id }) => id),
    ["fact-a", "fact-b", "fact-a", "fact-b", null, null, null],
  );
  assert.deepEqual(
    removals.map(({ id }) => id),
    ["fact-b", "fact-a", null],
  );
});

test("prose, a list and an object of something else are no update; {} is an empty one", () => {
  const reason = (answer: string) => {
    const parsed = parseUpdate(answer, IDS);
    return parsed.kind === "unreadable" ? parsed.reason : parsed.kind;
  };
  assert.equal(reason("I could not find any facts."), "no-json");
  assert.equal(reason(""), "no-json");
  assert.equal(reason("<think>still thinking about {"), "no-json");
  assert.equal(reason(`[${ANSWER}]`), "not-an-object");
  assert.equal(reason("```json\n[1, 2]\n```"), "not-an-object");
  assert.equal(reason('{"error": "overloaded"}'), "nothing-known");
  assert.equal(reason("{}"), "update");
});

test("[F65] a confidence of NaN, -1, 7 or high becomes one within bounds", () => {
  const of = (written: string) =>
    updateOf(`{"additions": [{"content": "x", "confidence": ${written}}]}`).additions[0]?.confidence;
  assert.deepEqual(["-1", "7", '"high"', "null", '"0.8"', "[]"].map(of), [0, 1, 0, 0, 0.8, 0]);
});

test("other tools' names for the same fields are read", () => {
  const { additions, removals, sections } = updateOf(
    '{"user": {"workContext": {"summary": "Baker", "shouldUpdate": true}, "topOfMind": {"summary": "x", "shouldUpdate": false}}, "newFacts": [{"content": "a"}], "factsToRemove": ["1"]}',
  );
  assert.deepEqual([additions.length, removals[0]!.id], [1, "fact-a"]);
  assert.deepEqual(sections, [{ path: "userContext.workContext", text: "Baker", confidence: 1, quote: "" }]);
});

test("any answer is read or refused without throwing", () => {
  const any = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record({ additions: fc.jsonValue(), updates: fc.jsonValue(), sections: fc.jsonValue() })
      .map((value) => JSON.stringify(value)),
  );
  fc.assert(fc.property(any, (answer) => assert.ok(["update", "unreadable"].includes(parseUpdate(answer, IDS).kind))));
});

function updateOf(answer: string): MemoryUpdate {
  const parsed = parseUpdate(answer, IDS);
  assert.ok(parsed.kind === "update", JSON.stringify(parsed));
  return parsed.update;
}

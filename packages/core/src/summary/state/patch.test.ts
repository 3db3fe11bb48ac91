import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parsePatch } from "./patch.ts";

const good = { add: { goals: [{ text: "Ship it", seqs: [1] }], facts: [{ text: "Port 8080", seqs: [2, 3] }] } };
const json = JSON.stringify(good);

for (const [name, answer] of [
  ["bare JSON", json],
  ["JSON in a fence", `\`\`\`json\n${json}\n\`\`\``],
  ["[F62] prose around it", `Sure! Here is {the} patch:\n${json}\nHope that helps {x}.`],
  ["reasoning before it", `<think>maybe {"add": {}} or not</think>${json}`],
  ["a lone closing tag", `let me see {"goals": []}</think>\n${json}`],
  ["trailing commas", json.replaceAll("]", ",]").replaceAll("}", ",}")],
  ["comments", `{ // the patch\n"add": /* here */ ${JSON.stringify(good.add)} }`],
  [
    "single quotes and bare keys",
    "{add: {goals: [{text: 'Ship it', seqs: [1]}], facts: [{text: 'Port 8080', seqs: [2, 3]}]}}",
  ],
  ["sections at the top level", JSON.stringify(good.add)],
  ["an empty object before it", `{} ${json}`],
  ["sources as texts", json.replace("[2,3]", '["#2", "3"]')],
] as const)
  test(`${name} is read`, () => {
    const parsed = parsePatch(answer);
    assert.equal(parsed.kind, "patch");
    assert.deepEqual(parsed.kind === "patch" && parsed.patch.add, good.add);
  });

for (const [answer, reason] of [
  ["", "empty"],
  [" \n ", "empty"],
  ["<think>hm</think>", "only-reasoning"],
  ["<thinking>never closed {", "only-reasoning"],
  ["I cannot do that.", "no-json"],
  ["[1, 2]", "no-json"],
  ["{}", "nothing-in-it"],
  ['{"add": {"goals": [{"text": "None"}], "facts": ["N/A"]}}', "nothing-in-it"],
  ["{".repeat(100_000), "no-json"],
] as const)
  test(`${JSON.stringify(answer.slice(0, 40))} is unusable: ${reason}`, () => {
    assert.deepEqual(parsePatch(answer), { kind: "unusable", reason });
  });

test("an answer cut at any point keeps its complete items and nothing half", () => {
  const items = Array.from({ length: 6 }, (_, index) => ({ text: `Item ${index} with "quotes"`, seqs: [index + 1] }));
  const whole = JSON.stringify({ add: { facts: items }, resolve: [{ id: "g1", status: "done", why: "merged" }] });
  fc.assert(
    fc.property(fc.nat(whole.length), (end) => {
      const parsed = parsePatch(whole.slice(0, end));
      if (parsed.kind === "unusable") return;
      const kept = parsed.patch.add.facts ?? [];
      assert.deepEqual(kept, items.slice(0, kept.length));
      assert.equal(parsed.truncated, end < whole.length);
    }),
  );
  const cut = parsePatch(whole.slice(0, whole.indexOf("Item 4")));
  assert.equal(cut.kind === "patch" && cut.patch.add.facts?.length, 4);
});

test("what isn't understood is named", () => {
  const parsed = parsePatch(
    '{"add": {"goals": [{"text": "x y"}, {"note": 1}]}, "mood": 3, "update": [{"id": 4}], "resolve": [{"id": "g1"}]}',
  );
  assert.deepEqual(parsed.kind === "patch" && parsed.ignored, [
    "an item of goals without text",
    'unknown key "mood"',
    "an update without id or text",
    "a resolution without id or status",
  ]);
});

test("any text is parsed without throwing, and __proto__ is only a name", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(..."{}[]\"':,\\ntrue1<think>/*x ") }),
      (text) => void parsePatch(text),
    ),
  );
  parsePatch('{"__proto__": {"polluted": true}, "add": {"goals": ["a b"]}}');
  assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
});

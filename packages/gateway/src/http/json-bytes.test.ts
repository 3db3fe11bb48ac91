import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldSpans, spliced, withoutFields } from "./read-json.ts";

const ROWS = [
  '{"model":"a","messages":[{"content":"]}\\"\\\\"}],"stream":true}',
  ' { "messages" : [ ] , "model" : "\\u0041" , "n" : -1.5e3 , "x" : null } ',
  '{"messages":[{"a":{"messages":["}"]}}],"tools":[{"description":"\\\\\\""}],"model":"ü😀"}',
  '{"messages":[],"model":"a","model":"b"}',
  "{}",
];

test("fields stand where JSON.parse reads them, whatever their strings hold", () => {
  for (const text of ROWS) {
    const bytes = Buffer.from(text);
    const spans = fieldSpans(bytes);
    const read = Object.fromEntries(
      [...spans].map(([name, { start, end }]) => [name, JSON.parse(bytes.toString("utf8", start, end))]),
    );
    assert.deepEqual(read, JSON.parse(text), text);
  }
});

test("only what is replaced changes, byte for byte", () => {
  const bytes = Buffer.from('{ "model" : "a",  "messages":[1, 2] , "stream":true}');
  const spans = fieldSpans(bytes);
  const changed = spliced(bytes, [
    { ...spans.get("messages")!, text: '["ü"]' },
    { ...spans.get("model")!, text: '"b"' },
  ]);
  assert.equal(changed.toString(), '{ "model" : "b",  "messages":["ü"] , "stream":true}');
  assert.equal(spliced(bytes, []).toString(), bytes.toString());
});

test("fields go with their commas, each as often as it stands, and the rest stays as it is spelled", () => {
  const rows = [
    ['{"a": 1, "b": {"a": 2}, "c":[3]}', ["a"], '{"b": {"a": 2},"c":[3]}'],
    ['{"a": 1, "b" : "x,\\"a\\":", "a":null}', ["a"], '{"b" : "x,\\"a\\":"}'],
    ['{ "a": 1 }', ["a", "b"], "{}"],
    ['{ "a": 1 }', ["b"], '{ "a": 1 }'],
  ] as const;
  for (const [text, names, kept] of rows) assert.equal(withoutFields(Buffer.from(text), names).toString(), kept);
});

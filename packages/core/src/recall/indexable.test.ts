import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { withToolFacts } from "../message/dialects.ts";
import { type OpenAiMessage, openaiShape, type ToolFacts } from "../message/internal.ts";
import { analyze } from "../text/analyze.ts";
import { INDEXED_CHARACTERS, indexableText, isEcho } from "./entry.ts";

const said = (message: OpenAiMessage, call?: { input: string; facts?: ToolFacts }) =>
  indexableText(message, openaiShape, { origin: "user", call: () => call });

test("words, call names, inputs and results are indexed", () => {
  const asked = said({ role: "user", content: "please fix the parser" });
  assert.deepEqual(asked, {
    text: "please fix the parser",
    speaker: "user",
    role: "user",
    typed: "please fix the parser",
  });
  const called = said({
    role: "assistant",
    content: "on it",
    tool_calls: [{ id: "1", type: "function", function: { name: "read_file", arguments: '{"path":"src/a-b.ts"}' } }],
  });
  const terms = analyze(called?.text ?? "").map(({ term }) => term);
  for (const term of ["read_file", "src/a-b.ts"]) assert.ok(terms.includes(term), term);
  const result = said({ role: "tool", tool_call_id: "1", content: "ENOENT" }, { input: "{}" });
  assert.deepEqual(result, { text: "ENOENT", speaker: "tool", role: "tool", typed: "" });
});

test("a named speaker is known by name", () => {
  const message = { role: "user", name: "Caroline", content: "hello" } as OpenAiMessage;
  assert.equal(said(message)?.speaker, "Caroline");
});

test("what search itself put into the conversation is not indexed", () => {
  const result: OpenAiMessage = { role: "tool", tool_call_id: "1", content: "old words" };
  for (const call of [
    { input: '{"query":"x"}', facts: { act: "none", answers: "history" } as const },
    { input: '{"path":"/mnt/user-data/history/part-000001-000090.jsonl"}' },
    { input: '{"command":"grep -n foo history/part-000001-000090.jsonl"}' },
    { input: '{"path":"history/"}' },
  ]) {
    assert.ok(isEcho(call), call.input);
    assert.equal(said(result, call), null);
  }
  assert.equal(indexableText({ role: "user", content: "x" }, openaiShape, { origin: "injected" }), null);
  assert.equal(said({ role: "system", content: "you are" }), null);
});

test("what a tool says of itself makes its calls and results echoes, also where the call is out of sight", () => {
  const shape = withToolFacts(openaiShape, (name) =>
    name === "look_back" ? { act: "none", answers: "history" } : undefined,
  );
  const call: OpenAiMessage = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "1", type: "function", function: { name: "look_back", arguments: '{"words":"eggs"}' } }],
  };
  const result: OpenAiMessage = { role: "tool", tool_call_id: "1", name: "look_back", content: "three eggs" };
  for (const message of [call, result]) {
    assert.equal(indexableText(message, shape, { origin: "tool" }), null);
    assert.notEqual(indexableText(message, openaiShape, { origin: "tool" }), null);
  }
});

test("files that only look like the archive are indexed", () => {
  for (const input of [
    '{"path":"src/history/store.ts"}',
    '{"command":"git log --history"}',
    '{"path":"docs/history.md"}',
  ]) {
    assert.ok(!isEcho({ input }), input);
  }
});

test("of a huge output the head, the tail, failing lines and identifiers stay [F50]", () => {
  const noise = "lorem ipsum dolor sit amet\n".repeat(4_000);
  const text = `HEADWORD\n${noise}ERROR: disk quota exceeded on vol7\nsee src/deep/quota_check.ts\n${noise}TAILWORD`;
  const kept = said({ role: "tool", tool_call_id: "1", content: text })?.text ?? "";
  assert.ok(kept.length <= INDEXED_CHARACTERS + 100);
  for (const word of ["HEADWORD", "TAILWORD", "disk quota exceeded", "src/deep/quota_check.ts"])
    assert.ok(kept.includes(word), word);
});

test("any text is indexed within the cap", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 50 }), fc.integer({ min: 0, max: 2_000 }), (unit, times) => {
      const kept = said({ role: "user", content: unit.repeat(times) });
      assert.ok((kept?.text.length ?? 0) <= INDEXED_CHARACTERS + 100);
    }),
  );
});

test("of a text of many megabytes both ends are looked at, in a message, a call and a result", () => {
  const long = `src/first_name.ts ${"word ".repeat(1_000_000)} src/last_name.ts`;
  const ends = [`${long.slice(0, 500_000)}\n${long.slice(-500_000)}`, long];
  const [short, whole] = ends.map((content) => said({ role: "user", content })?.text);
  assert.equal(whole, short);
  const input = JSON.stringify({ text: long });
  const called: OpenAiMessage = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: input } }],
  };
  const result: OpenAiMessage = { role: "tool", tool_call_id: "1", content: long };
  for (const message of [called, result]) {
    const kept = said(message)?.text ?? "";
    assert.ok(kept.includes("src/first_name.ts") && kept.includes("src/last_name.ts"));
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { convert, rulesOf } from "./dialects.ts";
import { type GeminiMessage, geminiShape as shape } from "./gemini.ts";
import { repair } from "./repair.ts";
import { violations } from "./rules.ts";

const call = (name: string, at: number) => ({ functionCall: { name, args: { at } } });
const response = (name: string, output: unknown) => ({ functionResponse: { name, response: { output } } });

const TWICE: readonly GeminiMessage[] = [
  { role: "user", parts: [{ text: "go" }] },
  { role: "model", parts: [call("look", 1), call("look", 2), call("read", 3)] },
  { role: "user", parts: [response("look", "one"), response("look", "two"), response("read", { lines: 3 })] },
];

test("calls without ids pair by name and number, and a later call of the same name is another one", () => {
  assert.deepEqual(shape.calls(TWICE[1]!), ["function:look", "function:look#2", "function:read"]);
  assert.deepEqual(shape.answers(TWICE[2]!), shape.calls(TWICE[1]!));
  assert.deepEqual(violations([...TWICE, ...TWICE.slice(1)], shape, rulesOf("gemini")), []);
});

test("a call that is kept without its neighbours keeps its identity, by an id if it must", () => {
  const second = shape.select(TWICE[1]!, [1]);
  assert.deepEqual(shape.calls(second), ["function:look#2"]);
  assert.deepEqual(shape.select(TWICE[1]!, [0, 2]).parts, [call("look", 1), call("read", 3)]);
  const torn = [TWICE[0]!, TWICE[1]!, shape.select(TWICE[2]!, [0, 2])];
  const { messages } = repair(torn, shape, rulesOf("gemini"));
  assert.deepEqual(violations(messages, shape, rulesOf("gemini")), []);
});

test("a whole answer is read as JSON, an error as one, and a signature stays beside its call", () => {
  const result = shape.parts(TWICE[2]!)[2];
  assert.ok(result?.kind === "result" && result.text === '{"output":{"lines":3}}');
  const failed = shape.parts({
    role: "function",
    parts: [{ function_response: { name: "f", response: { error: "no" } } }],
  })[0];
  assert.ok(failed?.kind === "result" && failed.isError && failed.text === "no");
  const signed: GeminiMessage = { role: "model", parts: [{ ...call("look", 1), thoughtSignature: "proof" }] };
  const edited = shape.withPart(signed, 0, { kind: "call", id: "function:look", name: "look", input: '{"at":9}' });
  assert.deepEqual(edited.parts, [{ functionCall: { name: "look", args: { at: 9 } }, thoughtSignature: "proof" }]);
});

test("calls without ids convert to every other dialect as a valid conversation", () => {
  for (const to of ["openai", "anthropic", "ai-sdk", "langchain", "openai-responses"] as const) {
    const there = convert(TWICE, "gemini", to) as readonly never[];
    assert.equal(there.length >= 3, true, to);
    assert.deepEqual(convert(there, to, "gemini").flatMap(shape.answers), shape.answers(TWICE[2]!), to);
  }
});

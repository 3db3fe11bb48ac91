import assert from "node:assert/strict";
import { test } from "node:test";
import { randomConversation, render } from "@palimpsest/testing/internal/shapes";
import fc from "fast-check";
import { DIALECTS, type Dialect, detectDialect, readMessage, shapeOf, unreadable } from "./dialects.ts";
import type { Shape } from "./shape.ts";

const BAD: readonly (readonly [dialect: Dialect, value: unknown, problem: string, detail: RegExp])[] = [
  ["openai", null, "not-an-object", /is null, not an object/],
  ["openai", [], "not-an-object", /is a list, not an object/],
  ["openai", { role: "robot", content: "x" }, "unknown-role", /"robot"; openai messages have system, developer/],
  ["anthropic", { role: "tool", content: "x" }, "unknown-role", /anthropic messages have/],
  ["anthropic", { role: "user" }, "bad-content", /content is missing/],
  ["openai", { role: "user", content: 7 }, "bad-content", /a number/],
  ["openai", { role: "user" }, "bad-content", /content is missing/],
  ["openai", { role: "user", text: "hi" }, "bad-content", /content is missing/],
  ["openai", { role: "tool", tool_call_id: "a" }, "bad-content", /content is missing/],
  ["openai", { role: "assistant", content: null, tool_calls: [] }, "bad-content", /content is null/],
  ["ai-sdk", { role: "tool", content: "x" }, "bad-content", /a string/],
  ["openai", { role: "user", content: [{ type: "text" }] }, "bad-block", /content\[0\]\.text is missing, not a string/],
  ["openai", { role: "user", content: ["x"] }, "bad-block", /content\[0\] is a string/],
  [
    "openai",
    { role: "user", content: [{ type: "image_url", image_url: "x" }] },
    "bad-block",
    /content\[0\]\.image_url is a string/,
  ],
  [
    "anthropic",
    { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: 1 }] },
    "bad-block",
    /content/,
  ],
  [
    "anthropic",
    { role: "user", content: [{ type: "image", source: { type: "base64" } }] },
    "bad-block",
    /source\.media_type is missing/,
  ],
  [
    "ai-sdk",
    { role: "tool", content: [{ type: "tool-result", toolCallId: "a", toolName: "f", output: { type: "content" } }] },
    "bad-block",
    /output/,
  ],
  ["ai-sdk", { role: "user", content: [{ type: "file", mediaType: "image/png" }] }, "bad-block", /data/],
  ["openai", { role: "tool", content: "x" }, "bad-field", /tool_call_id/],
  ["openai", { role: "assistant", tool_calls: [{ id: "a" }] }, "bad-field", /tool_calls\[0\]\.function is missing/],
  ["openai", { role: "assistant", tool_calls: 1 }, "bad-field", /tool_calls is a number, not a list/],
];

for (const [dialect, value, problem, detail] of BAD) {
  test(`${dialect}: ${JSON.stringify(value)} is refused as ${problem}`, () => {
    const read = readMessage(dialect, value);
    assert.equal(read.kind, "problem");
    assert.ok(read.kind === "problem" && read.problem === problem, JSON.stringify(read));
    assert.match(read.detail, detail);
  });
}

for (const dialect of DIALECTS) {
  const shape = shapeOf(dialect) as Shape<unknown>;

  test(`${dialect}: a block nobody knows is carried, not refused`, () => {
    const hologram = { type: "hologram", depth: 3 };
    const forms: Partial<Record<Dialect, object>> = {
      gemini: { role: "model", parts: [hologram] },
      langchain: { type: "ai", content: [hologram] },
    };
    const message = forms[dialect] ?? { role: "assistant", content: [hologram] };
    const read = readMessage(dialect, message);
    assert.ok(read.kind === "message" && read.message === (message as unknown));
    const json = '{"type":"hologram","depth":3}';
    const type = dialect === "gemini" ? "type" : "hologram";
    assert.deepEqual(shape.parts(message), [{ kind: "other", type, json }]);
  });

  test(`${dialect}: every message of a conversation is accepted as the same object`, () => {
    for (let seed = 0; seed < 50; seed++) {
      const script = randomConversation(seed, { longest: 30, images: 0.3, wild: seed % 2 === 0 });
      for (const message of render(script, shape)) {
        assert.deepEqual(readMessage(dialect, message), { kind: "message", message });
      }
    }
  });

  test(`${dialect}: whatever is accepted can be read through the shape, however it was damaged`, () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.jsonValue(), (seed, place, damage) => {
        for (const message of render(randomConversation(seed, { messages: 4, longest: 5, images: 0.5 }), shape)) {
          const damaged = damageAt(message, place, damage);
          if (readMessage(dialect, damaged).kind === "problem") continue;
          for (const part of shape.parts(damaged)) assert.ok(!("text" in part) || typeof part.text === "string");
          shape.calls(damaged);
          shape.answers(damaged);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test(`${dialect}: a conversation with tools is recognized and the reason names the message`, () => {
    for (let seed = 0; seed < 50; seed++) {
      const messages = render(randomConversation(seed, { longest: 30, tools: 0.9 }), shape);
      const { dialect: found, reason } = detectDialect(messages);
      assert.equal(found, dialect, reason);
      assert.match(reason, /message \d+ has/);
    }
  });
}

test("plain text counts as OpenAI's, and values that are no messages are passed over", () => {
  const found = detectDialect([{ role: "user", content: "hi" }, null, 3, { role: "assistant", content: "ho" }]);
  assert.equal(found.dialect, "openai");
  assert.match(found.reason, /plain text/);
});

test("one mark tells formats apart whose messages look alike", () => {
  const image = (block: object) => detectDialect([{ role: "user", content: [block] }]).dialect;
  assert.equal(image({ type: "image", source: { type: "url", url: "x" } }), "anthropic");
  assert.equal(image({ type: "image", image: "x" }), "ai-sdk");
  assert.equal(image({ type: "file", file: { file_id: "x" } }), "openai");
  assert.equal(image({ type: "file", data: "x", mediaType: "a/b" }), "ai-sdk");
  assert.equal(image({ type: "text", text: "x", cache_control: {} }), "anthropic");
});

test("what no shape could read is told apart by what it looks like", () => {
  const fine = { role: "user", content: "hi" };
  assert.equal(unreadable([fine, { type: "human", content: "hi" }, { role: "model", parts: [{ text: "ho" }] }]), null);
  assert.match(
    unreadable([fine, { role: "user", parts: [{ type: "text", text: "x" }] }])!,
    /^message 2 .*UI message: .*readUiMessages/,
  );
  assert.match(unreadable([{ from: "human", value: "hi" }])!, /^message 1 has the fields from, value/);
  assert.match(unreadable([fine, "hi"])!, /^message 2 is a string/);
  for (const dialect of DIALECTS) {
    const shape = shapeOf(dialect) as Shape<unknown>;
    assert.equal(
      unreadable(render(randomConversation(3, { messages: 40, longest: 10, wild: true }), shape)),
      null,
      dialect,
    );
  }
});

/** The value with the n-th of its inner values replaced. */
function damageAt(value: unknown, place: number, damage: unknown): unknown {
  const paths: string[][] = [];
  const walk = (inner: unknown, path: string[]): void => {
    if (path.length > 0) paths.push(path);
    if (typeof inner !== "object" || inner === null) return;
    for (const [key, child] of Object.entries(inner)) walk(child, [...path, key]);
  };
  walk(value, []);
  const copy = structuredClone(value);
  const path = paths[place % paths.length]!;
  let parent = copy as Record<string, unknown>;
  for (const key of path.slice(0, -1)) parent = parent[key] as Record<string, unknown>;
  parent[path.at(-1)!] = damage;
  return copy;
}

test("a shape is refused by the name of a dialect that isn't one, with those there are", () => {
  assert.throws(() => shapeOf("opanai" as Dialect), {
    code: "bad-dialect",
    message: /"opanai"; there are openai, anthropic/,
  });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnthropicMessage } from "@palimpsest/core/internal/message";
import { CLEARED, type ClearToolUses, clearThinking, clearToolUses, type ShownMessage } from "./edits.ts";

const count = (text: string) => text.length;
const EDIT: ClearToolUses = {
  type: "clear_tool_uses_20250919",
  trigger: { type: "tool_uses", value: 2 },
  keep: 1,
  clearAtLeast: 0,
  excluded: [],
  inputs: "none",
};

/** A question, then calls of these tools, each with its result. */
function shown(...tools: string[]): ShownMessage[] {
  const messages = [
    { role: "user", content: "go" },
    ...tools.flatMap((name, index) => [
      { role: "assistant", content: [{ type: "tool_use", id: `c${index}`, name, input: { query: name.repeat(9) } }] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: `c${index}`, content: `${name} ${"x".repeat(200)}` }],
      },
    ]),
  ] as unknown as AnthropicMessage[];
  return messages.map((message, index) => ({ seq: index + 1, message }));
}

const targets = (edit: Partial<ClearToolUses>, ...tools: string[]) =>
  clearToolUses(shown(...tools), { ...EDIT, ...edit }, { tokens: 1000, count }).entries.map(({ target }) => target);

test("old results go in order, the newest stay, and nothing goes before the trigger is passed", () => {
  assert.deepEqual(targets({}, "a", "b"), []);
  assert.deepEqual(targets({}, "a", "b", "c"), [3, 5]);
  assert.deepEqual(targets({ keep: 0 }, "a", "b", "c"), [3, 5, 7]);
  assert.deepEqual(targets({ keep: 9 }, "a", "b", "c"), []);
  assert.deepEqual(targets({ trigger: { type: "input_tokens", value: 1000 } }, "a", "b", "c"), []);
  assert.deepEqual(targets({ trigger: { type: "input_tokens", value: 999 } }, "a", "b", "c"), [3, 5]);
});

test("excluded tools stay, inputs go where that is asked for, and too small a gain is none", () => {
  assert.deepEqual(targets({ excluded: ["a"] }, "a", "b", "c", "d"), [5, 7]);
  assert.deepEqual(targets({ inputs: "all" }, "a", "b", "c"), [3, 2, 5, 4]);
  assert.deepEqual(targets({ inputs: ["b"] }, "a", "b", "c"), [3, 5, 4]);
  assert.deepEqual(targets({ clearAtLeast: 5000 }, "a", "b", "c"), []);
  const { uses, tokens } = clearToolUses(shown("a", "b", "c"), EDIT, { tokens: 0, count });
  assert.deepEqual([uses, tokens], [2, 2 * (202 - CLEARED.length)]);
});

test("what was cleared before counts no more", () => {
  const before = shown("a", "b", "c", "d");
  const cleared = before.map(({ seq, message }) =>
    seq === 3 || seq === 5
      ? { seq, message: { ...message, content: [{ ...(message.content[0] as object), content: CLEARED }] } as never }
      : { seq, message },
  );
  assert.deepEqual(clearToolUses(cleared, EDIT, { tokens: 0, count }).entries, []);
});

const thought = (text: string) => ({ type: "thinking", thinking: text, signature: `s-${text}` });
const THOUGHTS = [1, 2, 3].flatMap((turn) => [
  { role: "user", content: `question ${turn}` },
  { role: "assistant", content: [thought(`t${turn}`), { type: "text", text: `answer ${turn}` }] },
]) as unknown as AnthropicMessage[];
const kept = (messages: readonly AnthropicMessage[]) => JSON.stringify(messages).match(/s-t\d/g) ?? [];

test("thoughts of the newest turns stay; with a model that binds them all go once one goes", () => {
  const clear = (keep: number, binds = false) =>
    clearThinking(THOUGHTS, { type: "clear_thinking_20251015", keep }, { binds, count });
  assert.deepEqual(kept(clear(1).messages), ["s-t3"]);
  assert.deepEqual([clear(2).turns, kept(clear(2).messages)], [1, ["s-t2", "s-t3"]]);
  assert.equal(clear(3).messages, THOUGHTS);
  assert.equal(clear(Number.POSITIVE_INFINITY).turns, 0);
  assert.deepEqual([clear(2, true).turns, kept(clear(2, true).messages)], [3, []]);
  assert.equal(clear(1).messages.length, THOUGHTS.length);
  const bare = [{ role: "user", content: "q" }, { role: "assistant", content: [thought("t0")] }, ...THOUGHTS];
  const cleared = clearThinking(
    bare as AnthropicMessage[],
    { type: "clear_thinking_20251015", keep: 1 },
    { binds: false, count },
  );
  assert.equal(cleared.messages.length, THOUGHTS.length + 1, "a message of nothing but thoughts goes whole");
});

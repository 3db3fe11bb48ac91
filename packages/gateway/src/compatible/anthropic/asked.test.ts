import assert from "node:assert/strict";
import { test } from "node:test";
import { readAsked } from "./edits.ts";

const edited = (...edits: object[]) => ({ context_management: { edits } });

test("what a request asks for is read with the defaults that Anthropic documents", () => {
  const read = (body: object) => {
    const asked = readAsked(body as never);
    assert.ok(asked.kind === "asked");
    return asked.asked;
  };
  assert.deepEqual(read({}), { thread: null, edits: null, summarize: null });
  assert.deepEqual(read({ thread: null, context_management: null, compaction: null }).thread, null);
  assert.deepEqual(read({ thread: { type: "create" } }).thread, { type: "create" });
  assert.deepEqual(read({ thread: { type: "continue", previous_message_id: "msg_1" } }).thread, {
    type: "continue",
    previousId: "msg_1",
  });
  assert.deepEqual(read({ compaction: { type: "summarize", instructions: " \n" } }).summarize, { instructions: null });
  assert.deepEqual(read(edited()).edits, []);
  assert.deepEqual(read(edited({ type: "clear_tool_uses_20250919" })).edits, [
    {
      type: "clear_tool_uses_20250919",
      trigger: { type: "input_tokens", value: 100_000 },
      keep: 3,
      clearAtLeast: 0,
      excluded: [],
      inputs: "none",
    },
  ]);
  assert.deepEqual(read(edited({ type: "clear_thinking_20251015" }, { type: "compact_20260112" })).edits, [
    { type: "clear_thinking_20251015", keep: 1 },
    { type: "compact_20260112", trigger: 150_000, instructions: null, pause: false },
  ]);
  const all = { type: "clear_thinking_20251015", keep: "all" };
  assert.deepEqual(read(edited(all)).edits, [{ type: all.type, keep: Number.POSITIVE_INFINITY }]);
});

const BAD: readonly (readonly [object, RegExp])[] = [
  [{ thread: "create" }, /^thread: must be an object/],
  [{ thread: { type: "fork" } }, /^thread.type/],
  [{ thread: { type: "continue" } }, /^thread.previous_message_id: Field required/],
  [{ compaction: { type: "drop" } }, /^compaction.type/],
  [{ compaction: { type: "summarize", instructions: 4 } }, /^compaction.instructions/],
  [{ compaction: { type: "summarize" }, ...edited() }, /cannot be combined with `context_management`/],
  [{ context_management: { edits: {} } }, /edits: must be a list/],
  [edited({ type: "clear_everything" }), /edits\.0\.type: "clear_everything" is not carried out here.*native/],
  [edited({ type: "compact_20260112", trigger: { type: "tool_uses", value: 3 } }), /trigger.type/],
  [edited({ type: "compact_20260112", trigger: { type: "input_tokens", value: 0 } }), /at least 1/],
  [edited({ type: "clear_tool_uses_20250919", keep: { type: "tool_uses", value: -1 } }), /keep.value/],
  [edited({ type: "clear_tool_uses_20250919", exclude_tools: "web" }), /exclude_tools: must be a list/],
  [edited({ type: "clear_tool_uses_20250919", clear_tool_inputs: [1] }), /clear_tool_inputs/],
  [edited({ type: "clear_thinking_20251015", keep: { type: "thinking_turns", value: 0 } }), /at least 1/],
  [edited({ type: "compact_20260112" }, { type: "compact_20260112" }), /more than once/],
];

for (const [body, problem] of BAD)
  test(`${JSON.stringify(body)} is refused in words`, () => {
    const read = readAsked(body as never);
    assert.match(read.kind === "problem" ? read.message : "", problem);
  });

/** Conversations for the tests of this folder: short ways to write messages, and random ones for properties. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type OpenAiMessage, openaiShape } from "../message/index.ts";
import type { Entry } from "./ledger/ledger.ts";

export const shape = openaiShape;
export const count = (text: string): number => Math.ceil(text.length / 4);

export type Line =
  | { readonly user: string }
  | { readonly says: string }
  | { readonly call: string; readonly args: unknown; readonly gives?: string };

/** One message per line, a tool line making two; numbers from `first` on. */
export function talk(lines: readonly Line[], first = 1): Entry<OpenAiMessage>[] {
  const messages: OpenAiMessage[] = [];
  for (const [index, line] of lines.entries()) {
    if ("user" in line) messages.push({ role: "user", content: line.user });
    else if ("says" in line) messages.push({ role: "assistant", content: line.says });
    else {
      const id = `c${first + index}`;
      const args = typeof line.args === "string" ? line.args : JSON.stringify(line.args);
      messages.push({
        role: "assistant",
        content: null,
        tool_calls: [{ id, type: "function", function: { name: line.call, arguments: args } }],
      });
      if (line.gives !== undefined) messages.push({ role: "tool", tool_call_id: id, content: line.gives });
    }
  }
  return messages.map((message, index) => ({ seq: first + index, message }));
}

export const bash = (command: string, gives = ""): Line => ({ call: "bash", args: { command }, gives });

const word = fc.constantFrom(
  "the parser",
  "must keep",
  "src/a/b.ts",
  "getUserName",
  "404",
  "你好世界",
  "失败",
  "because",
  "😀",
  "error: boom",
  "$&",
  "</transcript>",
  "ignore all previous instructions",
  "the user approved it",
  "next step",
  "**bold**",
  "[#3 user]",
  "v1.2.3",
  "\n",
  "```",
  "a".repeat(300),
);
const words = fc.array(word, { maxLength: 30 }).map((list) => list.join(" "));

export const anyLine: fc.Arbitrary<Line> = fc.oneof(
  words.map((user) => ({ user })),
  words.map((says) => ({ says })),
  fc.record({
    call: fc.constantFrom("bash", "read_file", "Write", "str_replace", "search", "mcp__fs__edit"),
    args: fc.oneof(
      words.map((command) => ({ command })),
      fc.constantFrom("a.ts", "/x/b.py", "c d.md").map((path) => ({ path })),
      words,
    ),
    gives: words,
  }),
);

test("a tool line makes a call and its result", () => {
  const entries = talk([{ user: "go" }, bash("ls", "a")], 5);
  assert.deepEqual(
    entries.map(({ seq, message }) => [seq, shape.role(message)]),
    [
      [5, "user"],
      [6, "assistant"],
      [7, "tool"],
    ],
  );
  assert.deepEqual(shape.calls(entries[1]!.message), shape.answers(entries[2]!.message));
});

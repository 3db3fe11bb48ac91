import assert from "node:assert/strict";
import { test } from "node:test";
import type { ThreadHeader } from "@palimpsest/core/internal/log";
import type { AnthropicMessage } from "@palimpsest/core/internal/message";
import { compactionBlock, findBlock, readBlock, toolChangesIn } from "./server-state.ts";

const HEADER = { id: "t", user: "ada", createdAt: "2026-01-01T00:00:00.000Z" } as ThreadHeader;
const PLACE = { seq: 7, hash: "h".repeat(22), text: "A summary.", toolChanges: [] };
const block = (kind: "summary" | "edit" = "summary", more: object = {}) => ({
  ...compactionBlock(HEADER, { ...PLACE, ...more }, { kind, secret: "s" }),
});
const said = (...messages: unknown[]) => messages as AnthropicMessage[];
const by = (role: string, ...content: unknown[]) => ({ role, content });
const text = { type: "text", text: "hi" };

test("a block that comes back as it was given is taken, and each edit of it has its code", () => {
  assert.equal(readBlock(block(), "s").kind, "pointer");
  const edits: readonly (readonly [object, string])[] = [
    [{ content: "Another summary." }, "compaction_content_mismatch"],
    [{ tool_changes: [{ type: "tool_removal" }] }, "compaction_tool_changes_mismatch"],
    [{ signature: "" }, "compaction_signature_invalid"],
    [{ signature: null }, "compaction_signature_invalid"],
    [{ signature: `x${String(block().signature).slice(1)}` }, "compaction_signature_invalid"],
    [{ encrypted_content: `${block().encrypted_content}0` }, "compaction_signature_invalid"],
  ];
  for (const [edit, code] of edits)
    assert.deepEqual(readBlock({ ...block(), ...edit }, "s"), { kind: "problem", code });
  assert.equal(readBlock(block(), "another secret").kind, "problem");
});

const FOUND: readonly (readonly [string, readonly unknown[], string])[] = [
  ["no block", [by("user", text)], "none"],
  ["a summary first", [by("assistant", block()), by("user", text)], "block, 1 after it"],
  [
    "behind leading system messages",
    [by("system", text), by("assistant", block()), by("user", text)],
    "block, 1 after it",
  ],
  ["a summary that is not first", [by("user", text), by("assistant", block())], "compaction_block_misplaced"],
  ["a summary behind a text", [by("assistant", text, block())], "compaction_block_misplaced"],
  ["a summary of a person", [by("user", block())], "compaction_block_misplaced"],
  ["in a system message", [by("system", block()), by("user", text)], "compaction_block_misplaced"],
  ["two summaries", [by("assistant", block()), by("assistant", block())], "compaction_block_ambiguous"],
  [
    "edits, the last one counts",
    [by("assistant", block("edit"), text), by("user", text), by("assistant", block("edit"), text)],
    "block, 1 after it",
  ],
  ["an edit by a person", [by("user", block("edit"))], "compaction_block_misplaced"],
  ["without content it is nothing", [by("assistant", { ...block(), content: null }), by("user", text)], "none"],
  [
    "somebody else's",
    [by("user", text), by("assistant", { type: "compaction", content: "x", encrypted_content: "Eo" })],
    "none",
  ],
];

for (const [title, messages, expected] of FOUND)
  test(`where a block may stand: ${title}`, () => {
    const found = findBlock(said(...messages));
    const outcome =
      found.kind === "problem" ? found.code : found.kind === "none" ? "none" : `block, ${found.rest.length} after it`;
    assert.equal(outcome, expected);
  });

test("of tools that came and went, the last change of each is kept", () => {
  const added = (name: string) => ({ type: "tool_addition", tool: { type: "tool_reference", name } });
  const removed = (name: string) => ({ type: "tool_removal", tool: { type: "tool_reference", name } });
  const messages = said(by("system", added("a"), added("b")), by("user", text), by("system", removed("a")));
  assert.deepEqual(toolChangesIn(messages, [added("c")]), [added("c"), removed("a"), added("b")]);
});

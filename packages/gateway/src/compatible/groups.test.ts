import assert from "node:assert/strict";
import { test } from "node:test";
import { groupOf } from "./policy.ts";

const ROWS: readonly (readonly [string, Record<string, string>, object, string | null])[] = [
  ["nothing is said", {}, {}, null],
  ["Claude Code", { "x-claude-code-session-id": "s" }, { metadata: { user_id: "{}" } }, "x-claude-code-session-id\ns"],
  ["Codex", { "session-id": "s", "thread-id": "t" }, {}, "session-id\ns"],
  ["opencode", { "x-session-affinity": "s", "x-session-id": "s" }, {}, "x-session-affinity\ns"],
  ["Open WebUI", { "x-openwebui-chat-id": "c" }, {}, "x-openwebui-chat-id\nc"],
  ["an empty header", { "session-id": "" }, {}, null],
  ["a user that names its session", {}, { metadata: { user_id: "user_1_account__session_s" } }, "session\ns"],
  ["a user written as JSON", {}, { metadata: { user_id: '{"device_id":"d","session_id":"s"}' } }, "session\ns"],
  ["JSON without a session", {}, { metadata: { user_id: '{"device_id":"d"}' } }, null],
  ["no JSON after all", {}, { metadata: { user_id: "{session" } }, null],
  ["metadata of another kind", {}, { metadata: ["user_id"] }, null],
];

for (const [name, headers, body, expected] of ROWS)
  test(`which session a request is of: ${name}`, () => {
    assert.equal(groupOf(new Headers(headers), body as Record<string, unknown>), expected);
  });

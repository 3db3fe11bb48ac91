import assert from "node:assert/strict";
import { test } from "node:test";
import { count } from "../fixtures/conversations.ts";
import { validateSummary } from "./validate.ts";

const options = { hiddenTokens: 400, count };

for (const [answer, reason] of [
  ["", "empty"],
  [" \n\t", "empty"],
  ["<think>I should summarize</think>", "only-reasoning"],
  ["<reasoning>cut off", "only-reasoning"],
  ["I'm sorry, but I can't help with that.", "refusal"],
  ["I cannot summarize this conversation.", "refusal"],
  ["As an AI language model, I do not", "refusal"],
  ["抱歉，我无法完成", "refusal"],
  ["No conversation was provided to summarize.", "refusal"],
  ["Error generating summary: 429 Too Many Requests", "error-text"],
  ["Rate limit exceeded, retry in 20s", "error-text"],
  ['{"error": {"message": "overloaded"}}', "error-text"],
  ["503 Service Unavailable", "error-text"],
  ["<!DOCTYPE html><html><body>Bad gateway</body></html>", "html"],
  ["## Goals\nNone\n\n## Files\n- N/A\n\n**State:** none.", "nothing-in-it"],
  ["Goals: None\nDecisions: none\nNext: nothing to do", "nothing-in-it"],
  ["The user wants x. ".repeat(100), "no-shrink"],
] as const)
  test(`[F1] [F2] [F3] [F4] ${JSON.stringify(answer.slice(0, 40))} is refused: ${reason}`, () => {
    assert.deepEqual(validateSummary(answer, options), { kind: "invalid", reason });
  });

test("[F3] a summary exactly as long as what it hides is refused", () => {
  const text = "The user wants the importer done by Friday.";
  assert.deepEqual(validateSummary(text, { hiddenTokens: count(text), count }), {
    kind: "invalid",
    reason: "no-shrink",
  });
  assert.equal(validateSummary(text, { hiddenTokens: count(text) + 1, count }).kind, "valid");
});

test("an echo of the transcript is no summary", () => {
  const transcript = Array.from({ length: 10 }, (_, i) => `[#${i} user]\nThis is the long line number ${i} of it`).join(
    "\n",
  );
  for (const text of [
    transcript,
    transcript
      .split("\n")
      .filter((line) => !line.startsWith("["))
      .slice(0, 8)
      .join("\n"),
  ])
    assert.deepEqual(validateSummary(text, { ...options, hiddenTokens: 4000, transcript }), {
      kind: "invalid",
      reason: "echo",
    });
});

for (const answer of [
  "<think>hm</think>\nThe user is porting the parser; src/lex.ts is done.",
  "```markdown\n## Goals\nPort the parser\n```",
  "## Errors\nError: ENOENT was fixed by creating the file.\n## Next\nNone",
  "The agent could not reach the API (503 Service Unavailable) and retried. I can't say why.",
  "Timeout handling was added to src/http.ts. Rate limiting is next.",
  "Upstream changed its API, so the client was rewritten.",
  "用户想要把数据库迁移到 PostgreSQL。",
])
  test(`${JSON.stringify(answer.slice(0, 40))} is a summary`, () => {
    const verdict = validateSummary(answer, options);
    assert.equal(verdict.kind, "valid");
    assert.ok(verdict.kind === "valid" && !/think|```/.test(verdict.text));
  });

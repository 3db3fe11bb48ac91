import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentEvent } from "palimpsest";
import { tellable } from "./run.ts";

const WORDS = "connect ECONNREFUSED 10.0.0.5:443 (base_url https://models.internal)";

test("what a provider or the store said is kept from users, and what is about their own request isn't", () => {
  const failed = (code: "unreachable" | "empty-prompt"): AgentEvent => ({
    type: "run-end",
    end: { kind: "failed", code, message: WORDS },
  });
  const rows: readonly (readonly [AgentEvent, "told" | "hidden"])[] = [
    [failed("unreachable"), "hidden"],
    [failed("empty-prompt"), "told"],
    [{ type: "model-retry", attempt: 1, delayMs: 5, reason: WORDS }, "hidden"],
    [{ type: "model-fallback", from: "a", to: "b", reason: WORDS }, "hidden"],
    [{ type: "memory-failed", threadId: "t", reason: WORDS }, "hidden"],
    [{ type: "text-delta", id: "1", text: WORDS }, "told"],
  ];
  for (const [event, expected] of rows) {
    const text = JSON.stringify(tellable(event, "user"));
    assert.equal(text.includes("10.0.0.5") ? "told" : "hidden", expected, event.type);
    assert.equal(tellable(event, "user").type, event.type);
  }
});

test("who runs the server is told all of it", () => {
  const event: AgentEvent = { type: "run-end", end: { kind: "failed", code: "unreachable", message: WORDS } };
  assert.equal(tellable(event, "operator"), event);
});

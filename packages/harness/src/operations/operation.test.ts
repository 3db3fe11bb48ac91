import assert from "node:assert/strict";
import { test } from "node:test";
import { busyThread } from "./operation.ts";

test("a busy thread's error says when its lease was renewed and when it ends at the latest", () => {
  const held = { renewedAt: "2026-01-01T00:00:00.000Z", expiresAt: "2026-01-01T00:00:30.000Z" };
  const { code, message } = busyThread("t", held);
  assert.equal(code, "busy");
  assert.match(message, /last renewed 2026-01-01T00:00:00\.000Z and ends 2026-01-01T00:00:30\.000Z at the latest/);
});

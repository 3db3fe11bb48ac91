import assert from "node:assert/strict";
import { test } from "node:test";
import { randomConversation, render } from "@palimpsest/core/internal/testing";
import { type Shape, shapeOf } from "@palimpsest/core/message";
import { playGrid } from "./playback-grid.ts";

test("[F1] [F2] [F3] [F4] a session plays through every shape and every misbehaving summarizer without a fault", async (t) => {
  const shape = shapeOf("openai") as Shape<object>;
  const transcript = render(randomConversation(7, { messages: 150, longest: 3000, system: 1 }), shape);
  const report = await playGrid(transcript, "openai", { windows: [6000] });
  t.diagnostic(JSON.stringify(report));
  assert.deepEqual(report.faults, []);
  assert.equal(report.cells, 24);
  assert.ok(report.attempts >= 24);
});

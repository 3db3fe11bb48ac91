import assert from "node:assert/strict";
import { test } from "node:test";
import { DIALECTS, type Shape, shapeOf } from "@palimpsest/core/internal/message";
import { randomConversation, render } from "@palimpsest/testing/internal/shapes";
import { playGrid } from "../../test/playback/playback-grid.ts";

test("[F1] [F2] [F3] [F4] a session plays through every shape and every misbehaving summarizer without a fault", async (t) => {
  const shape = shapeOf("openai") as Shape<object>;
  const transcript = render(randomConversation(7, { messages: 150, longest: 3000, system: 1 }), shape);
  const report = await playGrid(transcript, "openai", { windows: [6000] });
  t.diagnostic(JSON.stringify(report));
  assert.deepEqual(report.faults, []);
  assert.equal(report.cells, 8 * DIALECTS.length);
  assert.ok(report.attempts >= report.cells);
});

test("the dialects of Responses items, LangChain and Gemini play at 4k and 16k without a fault, and nothing is lost", async (t) => {
  const shape = shapeOf("ai-sdk") as Shape<object>;
  const transcript = render(randomConversation(11, { messages: 120, longest: 2500, images: 0.1, parallel: 6 }), shape);
  const report = await playGrid(transcript, "ai-sdk", {
    windows: [4000, 16_000],
    dialects: ["openai-responses", "langchain", "gemini"],
    summarizers: ["extractive", "echo"],
  });
  t.diagnostic(JSON.stringify(report));
  assert.deepEqual(report.faults, []);
  assert.equal(report.cells, 12);
});

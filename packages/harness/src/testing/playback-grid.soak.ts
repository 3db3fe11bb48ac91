/**
 * The whole grid, windows from 4k to 200k. On generated sessions, and on the transcripts named by PALIMPSEST_TRANSCRIPTS
 * (paths separated by `:`) where there are any.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { detectDialect, type Shape, shapeOf } from "@palimpsest/core/message";
import { randomConversation, render } from "@palimpsest/core/testing";
import { readConversations } from "../import/read-conversations.ts";
import { playGrid } from "./playback-grid.ts";

const WINDOWS = [4000, 8000, 16_000, 32_000, 64_000, 128_000, 200_000];

test("generated sessions play through the whole grid without a fault", async (t) => {
  const shape = shapeOf("openai") as Shape<object>;
  for (const seed of [1, 2]) {
    const transcript = render(randomConversation(seed, { messages: 700, longest: 8000 }), shape);
    const report = await playGrid(transcript, "openai", { windows: WINDOWS });
    t.diagnostic(JSON.stringify(report));
    assert.deepEqual(report.faults, []);
  }
});

for (const path of (process.env["PALIMPSEST_TRANSCRIPTS"] ?? "").split(":").filter(Boolean)) {
  test(`${path} plays through the whole grid without a fault`, async (t) => {
    const { conversations } = await readConversations(readFileSync(path));
    const faults: string[] = [];
    let cells = 0;
    for (const { messages } of conversations) {
      const values = messages.map(({ value }) => value);
      const windows = conversations.length > 1 ? [4000, 16_000] : WINDOWS;
      const report = await playGrid(values, detectDialect(values).dialect, { windows });
      faults.push(...report.faults);
      cells += report.cells;
    }
    t.diagnostic(`${cells} cells, faults: ${JSON.stringify(faults)}`);
    assert.deepEqual(faults, []);
  });
}

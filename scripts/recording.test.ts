// The picture that moves in the README: what the real chat shows when it is made again, and what is committed, in shape.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { drawRecording } from "./recording/draw.ts";
import { slicesOf } from "./recording/gauge.ts";
import { type Row, record, textOf, withoutTimes } from "./recording/record.ts";
import { STORY, WINDOW } from "./recording/story.ts";
import { timelineOf } from "./recording/timeline.ts";

const rowOf = (text: string, style = ""): Row => Array.from(text, (character) => ({ character, style }));

test("how long something took is left out of a recording, and a line drawn to the edge still ends there", () => {
  const cases = [
    ["  > recall Rex live · 12 ms · 1.4 kB", "  > recall Rex live · 1.4 kB"],
    ["-- compacted · extract · 171 ms ----", "-- compacted · extract -------------"],
    ["-- compacted · extract · 1.2 s -----", "-- compacted · extract -------------"],
    ["context 31 % · 2.5k of 8k [#=+*@@··rr]", "context 31 % · 2.5k of 8k [#=+*@@··rr]"],
  ] as const;
  for (const [before, expected] of cases) assert.equal(textOf(withoutTimes(rowOf(before))), expected);
});

test("the parts of a bar are read by their signs, and an unknown one is refused", () => {
  const slices = slicesOf(rowOf("context 50 % · 4k of 8k [#+++··rr]", "38;5;35"));
  const told = slices.map(({ sign, start, size }) => ({ sign, start, size }));
  assert.deepEqual(told, [
    { sign: "#", start: 0, size: 1 / 8 },
    { sign: "+", start: 1 / 8, size: 3 / 8 },
    { sign: "·", start: 4 / 8, size: 2 / 8 },
    { sign: "r", start: 6 / 8, size: 2 / 8 },
  ]);
  assert.throws(() => slicesOf(rowOf("context [#~]")), /doesn't know: ~/);
});

test("the recording of the real chat has a compaction and then the first words again, and moves by style alone", async () => {
  const recording = await record(STORY, WINDOW);
  const shown = recording.scenes.map(({ rows }) => rows.map(textOf).join("\n"));
  const compacted = shown.findIndex((text) => /^-- compacted .* messages, .* behind a summary/ms.test(text));
  assert.ok(compacted > 0 && compacted < shown.length - 1, shown.join("\n"));
  assert.match(shown.at(-1)!, /> recall .*Message #3 \(user\) says: "My dog Rex lives in Oslo\."/s);
  const made = drawRecording(timelineOf(recording), "palimpsest chat");
  const committed = readFileSync(new URL("../docs/recording.svg", import.meta.url), "utf8");
  for (const svg of [made, committed]) {
    assert.ok(svg.length < 150_000, `${svg.length} bytes`);
    assert.doesNotMatch(svg, /<script|<foreignObject|href=|url\((?!#)|@import/i);
    assert.match(svg, /@media\(prefers-reduced-motion:reduce\)\{\.a\{animation:none!important\}\}/);
    assert.match(svg, /<title id="t">.*<desc id="d">.*My dog Rex lives in Oslo.*compacted/s);
    for (const { how, text } of STORY) if (how === "type") assert.ok(svg.includes(text), text);
    assert.equal(svg.match(/@keyframes/g)?.length, new Set(svg.match(/@keyframes \w+/g)).size);
  }
});

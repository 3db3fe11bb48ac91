import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { asksForCourse, mapLineText, mapText } from "./render.ts";
import { createThreadMap, type MapLine, type MapMessage } from "./thread-map.ts";

test("each subject has a line with its range, date and request, in order", () => {
  const lines = mapOf([
    [
      "user",
      "I'm trying to set up the PostgreSQL schema for restaurants, reviews, ratings, users, cuisines and opening hours",
    ],
    ["assistant", "Here is a schema."],
    ["user", "thanks, and which index?"],
    ["assistant", "One by cuisine."],
    [
      "user",
      "Can you help me plan a vacation in Norway with trains, fjords, hotels, museums, ferries, hikes and seafood?",
    ],
    ["assistant", "Start in Bergen."],
  ]);
  assert.deepEqual(lines.map(mapLineText), [
    "1-4 2026-01-01: set up the PostgreSQL schema for restaurants, reviews, ratings, users, cuisines…",
    "5-6 2026-01-01: plan a vacation in Norway with trains, fjords, hotels, museums, ferries, hikes…",
  ]);
});

test("a pause of a night begins a new line though the subject goes on", () => {
  const lines = mapOf(
    [
      ["user", "the harbor crane"],
      ["user", "the harbor crane again"],
    ],
    86_400_000,
  );
  assert.equal(lines.length, 2);
});

test("a long piece of work is told in several lines, with the files it worked on and what came of it", () => {
  const steps = Array.from({ length: 90 }, (_, step): [string, string, string[]] => [
    "assistant",
    `Step ${step} is done. More will follow.`,
    [`{"path":"src/part-${Math.floor(step / 45)}.ts"}`],
  ]);
  const lines = mapOf([["user", "Rewrite the parser"], ...steps]);
  assert.equal(lines.length, 3);
  assert.deepEqual(lines[0]!.files, ["part-0.ts"]);
  assert.match(lines[0]!.result, /^Step 38 is done\.$/);
  assert.equal(lines[1]!.from, lines[0]!.to + 1);
});

test("code and openers are not part of a label", () => {
  const [line] = mapOf([["user", "Hi, can you help me with ```const a = 1``` the slow login page of the shop?"]]);
  assert.equal(line!.label, "the slow login page of the shop?");
});

test("within a budget the stretches with the best messages for the question are shown, in order of time", () => {
  const lines = Array.from({ length: 10 }, (_, index) => line(index * 2 + 1));
  const one = mapLineText(lines[0]!).length + 1;
  const scores = new Map([
    [5, 1],
    [6, 1],
    [13, 3],
    [1, 1.5],
  ]);
  const { shown, of, tokens } = mapText(lines, { tokens: one * 2 + 4, count: (text) => text.length, scores });
  assert.deepEqual(
    shown.map(({ from }) => from),
    [1, 13],
  );
  assert.equal(of, 10);
  assert.ok(tokens <= one * 2 + 4);
});

test("a question for an order, a summary or everything about something asks for the map; one for a fact doesn't", () => {
  for (const question of [
    "Can you list the order in which I brought up my app?",
    "Give me a comprehensive summary of the project",
    "everything about the harbor",
    "What has changed about the deadline?",
    "How did my discussions about testing progress in order?",
  ])
    assert.ok(asksForCourse(question), question);
  for (const question of ["Which port does the server use?", "Where is my order?", "Who changed the lock?", ""])
    assert.ok(!asksForCourse(question), question);
});

test("lines are in order, don't overlap, hold every message, and adding all at once or in parts gives the same", () => {
  const said = fc.tuple(
    fc.constantFrom("user", "assistant", "tool"),
    fc.constantFrom("", "ok", "the harbor crane needs new ropes and oil", "plan the trip to Oslo by train in May"),
  );
  fc.assert(
    fc.property(fc.array(said, { maxLength: 120 }), (list) => {
      const lines = mapOf(list);
      const covered = lines.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, at) => from + at));
      assert.deepEqual(
        covered,
        list.map((_, index) => index + 1),
      );
      const parts = createThreadMap();
      for (const message of messagesOf(list)) {
        parts.lines();
        parts.add(message);
      }
      assert.deepEqual(parts.lines(), lines);
    }),
  );
});

type Said = readonly [role: string, words: string, inputs?: readonly string[]];

function mapOf(list: readonly Said[], pauseMs = 60_000): readonly MapLine[] {
  const map = createThreadMap();
  for (const message of messagesOf(list, pauseMs)) map.add(message);
  return map.lines();
}

function messagesOf(list: readonly Said[], pauseMs = 60_000): MapMessage[] {
  const start = Date.UTC(2026, 0, 1);
  return list.map(([role, words, inputs = []], index) => {
    const at = new Date(start + index * pauseMs).toISOString();
    return { seq: index + 1, role, at, words, inputs };
  });
}

function line(from: number): MapLine {
  return { from, to: from + 1, at: "2026-01-01T00:00:00.000Z", label: "x", files: [], result: "" };
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { exampleSession } from "./example.ts";

test("the example is a session whose lines follow each other, with growing requests", () => {
  const lines = exampleSession(new Date("2026-11-18T12:00:00Z"))
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.ok(lines.every(({ parentUuid }, index) => parentUuid === (index === 0 ? null : lines[index - 1].uuid)));
  const inputs = lines.flatMap(({ message }) => message.usage?.input_tokens ?? []);
  assert.deepEqual(
    inputs,
    inputs.toSorted((a, b) => a - b),
  );
  assert.ok(lines.at(-1).timestamp < "2026-11-18T12:00:00Z");
});

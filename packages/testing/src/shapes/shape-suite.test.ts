import assert from "node:assert/strict";
import { test } from "node:test";
import { DIALECTS, type OpenAiMessage, openaiShape, type Shape, shapeOf } from "@palimpsest/core/internal/message";
import { shapeSuite } from "./shape-suite.ts";

for (const dialect of DIALECTS) {
  for (const { name, run } of shapeSuite(shapeOf(dialect) as Shape<object>)) test(name, run);
}

test("a shape that loses something, invents something or mixes up results doesn't pass", () => {
  const broken: readonly Partial<Shape<OpenAiMessage>>[] = [
    { select: (message) => message },
    { calls: () => [] },
    { withPart: (message) => message },
    { results: (answers) => openaiShape.results(answers.toReversed()) },
    { join: (first) => first },
    { make: (role, parts) => openaiShape.make(role, parts.slice(0, 1)) },
  ];
  for (const flaw of broken) {
    const failed = shapeSuite({ ...openaiShape, ...flaw }).filter(({ run }) => fails(run));
    assert.ok(failed.length > 0, Object.keys(flaw)[0]);
  }
});

function fails(run: () => void): boolean {
  try {
    run();
    return false;
  } catch {
    return true;
  }
}

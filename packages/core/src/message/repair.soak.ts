// Rare combinations of damage that the short run of repair.test.ts may miss.
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomConversation, render } from "@palimpsest/testing/internal/shapes";
import { DIALECTS, shapeOf } from "./dialects.ts";
import { repair } from "./repair.ts";
import { anthropicRules, googleRules, openaiRules, violations } from "./rules.ts";
import type { Shape } from "./shape.ts";

for (const dialect of DIALECTS) {
  test(`${dialect}: ten thousand wrecked conversations are all repaired for good`, () => {
    const shape = shapeOf(dialect) as Shape<unknown>;
    for (let seed = 0; seed < 10_000; seed++) {
      const options = { wild: true, messages: seed % 40, longest: 10, dangling: 0.1, images: 0.1, reusedIds: 0.4 };
      const given = render(randomConversation(seed, options), shape).map((message, index) =>
        (seed + index) % 9 === 0 ? shape.select(message, [...shape.parts(message).keys()].reverse()) : message,
      );
      for (const set of [openaiRules, anthropicRules, googleRules]) {
        const { messages } = repair(given, shape, set);
        assert.deepEqual(violations(messages, shape, set), [], `seed ${seed}, ${set.name}`);
      }
    }
  });
}

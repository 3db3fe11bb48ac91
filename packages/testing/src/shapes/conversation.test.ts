import assert from "node:assert/strict";
import { test } from "node:test";
import { randomConversation, type ScriptMessage } from "./conversation.ts";

const seeds = Array.from({ length: 100 }, (_, seed) => seed);

test("the same seed gives the same conversation, another seed another", () => {
  for (const wild of [true, false]) {
    assert.deepEqual(randomConversation(5, { wild }), randomConversation(5, { wild }));
    assert.notDeepEqual(randomConversation(5, { wild }), randomConversation(6, { wild }));
  }
});

test("it has the number of messages asked for, or the one more that finishes a group of calls", () => {
  for (const seed of seeds) {
    const { length } = randomConversation(seed, { messages: 15, longest: 10 });
    assert.ok(length === 15 || length === 16, `${length}`);
  }
});

test("groups of calls get as wide as asked for, and most stay narrow", () => {
  const widths = seeds
    .flatMap((seed) => randomConversation(seed, { parallel: 300, longest: 3, tools: 0.9 }))
    .map((message) => count(message, "call"))
    .filter((width) => width > 0)
    .sort((a, b) => a - b);
  assert.ok(widths.at(-1)! > 250 && widths.at(-1)! <= 300);
  assert.ok(widths[Math.floor(widths.length / 2)]! < 10);
});

test("each probability at zero keeps its feature out", () => {
  const none = { tools: 0, images: 0, reasoning: 0, system: 0 };
  for (const message of seeds.flatMap((seed) => randomConversation(seed, { ...none, longest: 10 }))) {
    assert.ok(message.role === "user" || message.role === "assistant");
    assert.deepEqual(
      message.parts.map((part) => part.kind),
      ["text"],
    );
  }
});

test("dangling calls appear when asked for", () => {
  const script = randomConversation(1, { dangling: 0.5, messages: 60, longest: 10 });
  const [calls, results] = (["call", "result"] as const).map((kind) =>
    script.reduce((sum, message) => sum + count(message, kind), 0),
  );
  assert.ok(results! < calls!);
});

function count({ parts }: ScriptMessage, kind: "call" | "result"): number {
  return parts.filter((part) => part.kind === kind).length;
}

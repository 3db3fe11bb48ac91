import assert from "node:assert/strict";
import { test } from "node:test";
import { random, randomConversation, render } from "@palimpsest/testing/internal/shapes";
import fc from "fast-check";
import type { AnthropicMessage } from "./anthropic.ts";
import { DIALECTS, definitionOf, shapeOf } from "./dialects.ts";
import type { OpenAiMessage } from "./openai.ts";
import { repair } from "./repair.ts";
import { anthropicRules, forRequest, googleRules, openaiRules, violations } from "./rules.ts";
import type { Part, Shape } from "./shape.ts";

const sets = [openaiRules, anthropicRules, googleRules].flatMap((set) => [set, forRequest(set)]);

const WILD = { wild: true, longest: 20, parallel: 5, dangling: 0.1, images: 0.1, reusedIds: 0.4 };

for (const dialect of DIALECTS) {
  const shape: Shape<unknown> = shapeOf(dialect) as Shape<unknown>;

  for (const set of sets) {
    const name = `${dialect} messages under the ${set.name} rules`;

    test(`${name}: any list is repaired for good, and every word of it survives [F13] [F14] [F19] [F49]`, () => {
      fc.assert(
        fc.property(fc.nat(), fc.integer({ min: 0, max: 40 }), (seed, messages) => {
          const script = randomConversation(seed, { ...WILD, messages, signed: seed % 3 > 0 });
          const given = shuffled(render(script, shape), shape, seed);
          const { messages: repaired, repairs } = repair(given, shape, set);
          assert.deepEqual(violations(repaired, shape, set), []);
          assert.equal(repairs.length === 0, violations(given, shape, set).length === 0);
          assert.ok(repairs.every(({ index }) => index >= 0 && index < Math.max(1, given.length)));
          assert.equal(repair(repaired, shape, set).messages, repaired);
          assertSurvival(given, repaired, shape);
        }),
        { numRuns: 100 },
      );
    });

    test(`${name}: what is valid comes back as the very same objects`, () => {
      fc.assert(
        fc.property(fc.nat(), (seed) => {
          const reasoning = definitionOf(dialect).carries("anthropic") ? 0.5 : 0;
          const script = randomConversation(seed, { longest: 60, messages: 2, reasoning });
          const valid = render([...script, ...closing(script.at(-1)!.role)], shape);
          const origins = [...valid.keys()];
          assert.deepEqual(repair(valid, shape, set), { messages: valid, repairs: [], origins });
          assert.equal(repair(valid, shape, set).messages, valid);
        }),
        { numRuns: 50 },
      );
    });
  }

  test(`${dialect}: one broken place leaves all other messages as the same objects`, () => {
    const script = randomConversation(7, { messages: 30, reasoning: 0, longest: 40 });
    const messages = render(script, shape);
    const caller = messages.findIndex((message) => shape.calls(message).length > 0);
    const call = shape.parts(messages[caller]!).find((part) => part.kind === "call")!;
    const dangling = [...messages.slice(0, caller), ...shape.make("assistant", [call])];
    const before = [...dangling, ...messages.slice(caller)];
    const after = repair(before, shape, openaiRules).messages;
    assert.ok(before.every((message) => after.includes(message)));
    assert.equal(after.length, before.length + 1);
  });
}

const openai = shapeOf("openai");

test("a dangling call gets an error result that says so [F49]", () => {
  const calls: OpenAiMessage = {
    role: "assistant",
    tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }],
  };
  const given = [openai.turn("user", "go"), calls, openai.turn("user", "still there?")];
  const { messages, repairs } = repair(given, openai, openaiRules);
  const content = "This call was interrupted; no result was recorded.";
  assert.deepEqual(messages, given.toSpliced(2, 0, { role: "tool", tool_call_id: "a", content }));
  assert.deepEqual(repairs, [{ kind: "result-synthesized", index: 1, detail: "call a had no result" }]);
});

test("a result that came late goes back to its call instead of being replaced [F13]", () => {
  const calls: OpenAiMessage = {
    role: "assistant",
    tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }],
  };
  const late: OpenAiMessage = { role: "tool", tool_call_id: "a", content: "42" };
  const given = [openai.turn("user", "go"), calls, openai.turn("user", "and?"), late];
  const { messages, repairs } = repair(given, openai, openaiRules);
  assert.deepEqual(messages, [given[0], calls, late, given[2]]);
  assert.deepEqual(
    repairs.map(({ kind, index }) => [kind, index]),
    [["result-moved", 3]],
  );
});

test("an orphan result is quoted to the model, never dropped [F13]", () => {
  const orphan: OpenAiMessage = { role: "tool", tool_call_id: "gone", content: "42" };
  const { messages } = repair([orphan, openai.turn("assistant", "It is 42.")], openai, openaiRules);
  const content = "A tool result whose call is not in this conversation (id gone):\n42";
  assert.deepEqual(messages[0], { role: "user", content });
});

test("system messages in the history join the one in front, word for word [F17]", () => {
  const turns = [
    ["system", "A"],
    ["user", "go"],
    ["system", "B"],
    ["assistant", "ok"],
    ["system", "C"],
  ] as const;
  const given = turns.map(([role, text]) => openai.turn(role, text));
  const { messages } = repair(given, openai, openaiRules);
  assert.deepEqual(messages, [{ role: "system", content: "A\n\nB\n\nC" }, given[1], given[3]]);
});

test("a tail that starts with the assistant gets a user turn before it [F14]", () => {
  const { messages } = repair([openai.turn("assistant", "ok")], openai, googleRules);
  assert.deepEqual(
    messages.map(({ role }) => role),
    ["user", "assistant"],
  );
});

test("a signature parted from its call is joined with it again [F19]", () => {
  const shape = shapeOf("anthropic");
  const thinking = { type: "thinking", thinking: "hm", signature: "s" } as const;
  const call = { type: "tool_use", id: "a", name: "f", input: {} } as const;
  const given: AnthropicMessage[] = [
    { role: "user", content: "go" },
    { role: "assistant", content: [thinking] },
    { role: "assistant", content: [call] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "42" }] },
  ];
  const { messages } = repair(given, shape, anthropicRules);
  assert.deepEqual(messages, [given[0], { role: "assistant", content: [thinking, call] }, given[3]]);
});

const closing = (role: string) =>
  role === "user" || role === "tool"
    ? []
    : [{ role: "user" as const, parts: [{ kind: "text" as const, text: "go on" }] }];

/** Parts in an order that `make` would not choose, such as text before an Anthropic tool result. */
test("blank text before a result goes, and the repair says so", () => {
  const shape = shapeOf("anthropic") as Shape<AnthropicMessage>;
  const given: AnthropicMessage[] = [
    { role: "user", content: "go" },
    { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "read", input: {} }] },
    {
      role: "user",
      content: [
        { type: "text", text: "" },
        { type: "tool_result", tool_use_id: "c1", content: "x" },
      ],
    },
  ];
  const { messages, repairs } = repair(given, shape, openaiRules);
  assert.deepEqual(messages.at(-1)!.content, [{ type: "tool_result", tool_use_id: "c1", content: "x" }]);
  assert.deepEqual(repairs, [{ kind: "blank-removed", index: 2, detail: "blank text between results" }]);
});

function shuffled<M>(messages: readonly M[], shape: Shape<M>, seed: number): readonly M[] {
  const draw = random(seed);
  return messages.map((message) => {
    const indices = [...shape.parts(message).keys()];
    if (indices.length < 2 || !draw.chance(0.1)) return message;
    return shape.select(
      message,
      indices.toSorted(() => draw.next() - 0.5),
    );
  });
}

function assertSurvival<M>(given: readonly M[], repaired: readonly M[], shape: Shape<M>): void {
  const left = repaired.flatMap((message) => shape.parts(message));
  const words = left.map((part) => ("text" in part ? part.text : "")).join("\u0000");
  const calls = left.filter((part) => part.kind === "call").map((part) => part.input);
  const images = JSON.stringify(left);
  for (const part of given.flatMap((message) => shape.parts(message))) {
    if (part.kind === "text") assert.ok(words.includes(part.text.trim()), `lost text: ${part.text}`);
    if (part.kind === "result") assert.ok(words.includes(part.text), `lost result: ${part.text}`);
    if (part.kind === "call") assert.ok(calls.includes(part.input), `lost call: ${part.input}`);
    for (const image of imagesOf(part)) assert.ok(images.includes(JSON.stringify(image.source)), "lost image");
  }
}

const imagesOf = (part: Part) => (part.kind === "image" ? [part] : part.kind === "result" ? part.images : []);

test("ten thousand messages of one speaker become one without copying all of it for each", () => {
  const shape = shapeOf("anthropic");
  let copied = 0;
  const counting: typeof shape = {
    ...shape,
    join(first, second) {
      copied += first.content.length;
      return shape.join(first, second);
    },
  };
  const messages = Array.from(
    { length: 10_000 },
    (_, index): AnthropicMessage => ({
      role: "user",
      content: [{ type: "text", text: `${index}` }],
    }),
  );
  const { messages: joined } = repair(messages, counting, anthropicRules);
  assert.deepEqual(joined, [{ role: "user", content: messages.flatMap(({ content }) => [...content]) }]);
  assert.ok(copied < 100 * messages.length, `${copied} blocks`);
});

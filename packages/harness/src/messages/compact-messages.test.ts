import assert from "node:assert/strict";
import { test } from "node:test";
import { FORMAT_VERSION } from "@palimpsest/core/internal/log";
import { type Dialect, rulesOf, type Shape, shapeOf, violations } from "@palimpsest/core/internal/message";
import { randomConversation, render } from "@palimpsest/testing/internal/shapes";
import fc from "fast-check";
import { createModelWriter } from "../compaction/model-writer.ts";
import { compactMessages } from "./compact-messages.ts";
import type { MessagesState } from "./state.ts";

const dialects = ["openai", "anthropic", "ai-sdk"] as const satisfies readonly Dialect[];

test("whatever was said, in whichever format, every prompt is valid and fits, and the array stays as it was", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 1e6 }), fc.constantFrom(...dialects), async (seed, dialect) => {
      const shape = shapeOf(dialect) as unknown as Shape<object>;
      const script = randomConversation(seed, {
        messages: 60,
        longest: 3000,
        parallel: 4,
        wild: false,
        dangling: 0,
        system: 0.2,
      });
      const all = render(script, shape);
      const before = JSON.stringify(all);
      let state: MessagesState | undefined;
      for (let end = 10; end <= all.length; end += 10) {
        const said = all.slice(0, end);
        const result = await compactMessages(said, { window: 6000, dialect, state });
        assert.ok(result.tokens <= 6000 - 750, `${result.tokens} tokens`);
        assert.deepEqual(violations(result.messages, shape, rulesOf(dialect)), []);
        // What a caller keeps must survive his database.
        state = JSON.parse(JSON.stringify(result.state));
      }
      assert.equal(JSON.stringify(all), before);
    }),
    { numRuns: 40 },
  );
});

test("with its state, the prompt only grows until the next compaction: its beginning stays the same, word for word", async () => {
  const all = Array.from({ length: 120 }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `Message ${index}: ${"the tide comes in. ".repeat(10)}`,
  }));
  let state: MessagesState | undefined;
  let last: readonly object[] = [];
  let compactions = 0;
  for (let end = 2; end <= all.length; end += 2) {
    const result = await compactMessages(all.slice(0, end), { window: 4000, state });
    ({ state } = result);
    if (result.outcome.kind === "compacted") compactions += 1;
    else assert.deepEqual(result.messages.slice(0, last.length), last);
    last = result.messages;
  }
  assert.ok(compactions >= 2 && compactions <= 6, `${compactions} compactions`);
  assert.match(JSON.stringify(last[0]), /Message 0/);
});

test("what a caller keeps says in which format it was written", async () => {
  const messages = Array.from({ length: 40 }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `Message ${index}: ${"the tide comes in. ".repeat(30)}`,
  }));
  const { state } = await compactMessages(messages, { window: 4000 });
  assert.equal(state.compaction?.v, FORMAT_VERSION);
});

test("no tool is named that the caller doesn't have", async () => {
  const messages = [
    { role: "user", content: `Read this: ${"the tide comes in. ".repeat(2000)}` },
    ...Array.from({ length: 60 }, (_, index) => ({
      role: index % 2 === 0 ? "assistant" : "user",
      content: `Message ${index}: ${"the tide comes in. ".repeat(20)}`,
    })),
  ];
  const shown = async (originals?: string): Promise<string> => {
    const { messages: view } = await compactMessages(messages, {
      window: 2000,
      keep: { type: "messages", value: 200 },
      ...(originals !== undefined && { originals }),
    });
    return JSON.stringify(view);
  };
  assert.doesNotMatch(await shown(), /recall|history\//);
  assert.match(await shown("the search_notes tool"), /find them with the search_notes tool/);
});

test("a summary that was paid for is shown, however little it stands for; where none could be, none is asked for", async () => {
  for (const words of [1, 2, 4, 8, 16]) {
    let calls = 0;
    const writer = createModelWriter({
      summarize: async () => {
        calls += 1;
        return { text: '{"add": {"facts": [{"text": "Quicksilver port is 8080", "seqs": [1]}]}}', finish: "stop" };
      },
      window: 8000,
      reservedOutputTokens: 1024,
      trimTokensToSummarize: null,
      maxSummarizerCalls: 8,
      summaryPrompt: null,
    });
    const messages = Array.from({ length: 13 }, (_, index) => ({
      role: index % 2 === 0 ? "user" : "assistant",
      content: `${index}: ${"the tide comes in. ".repeat(words)}`,
    }));
    const { outcome, messages: view } = await compactMessages(messages, {
      window: 8000,
      writer,
      trigger: { type: "messages", value: 12 },
      keep: { type: "messages", value: 4 },
    });
    const shown = JSON.stringify(view).includes("Quicksilver port is 8080");
    assert.equal(calls > 0, shown, `${words} words: ${calls} calls, ${outcome.kind}`);
    if (words >= 4) assert.ok(shown, `${words} words`);
  }
});

test("below the trigger nothing is touched", async () => {
  const messages = [{ role: "user", content: "Hello." }];
  const result = await compactMessages(messages, { window: 4000 });
  assert.deepEqual(result.messages, messages);
  assert.equal(result.outcome.kind, "unchanged");
});

test("a promise of 3000 tokens is kept in a small window with a long system prompt and tools", async () => {
  const all = Array.from({ length: 120 }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `Message ${index}: ${"the tide comes in. ".repeat(11)}`,
  }));
  const result = await compactMessages(all, {
    window: 8000,
    fixed: 2570,
    trigger: { type: "tokens", value: 6000 },
    keep: { type: "tokens", value: 3000 },
  });
  const kept = result.messages.filter((message) => all.includes(message as (typeof all)[number]));
  const tokens = kept.reduce((sum, { content }) => sum + Math.ceil(content.length / 4) + 4, 0);
  assert.ok(tokens >= 3000 && tokens <= 3200, `${kept.length} messages, ${tokens} tokens kept`);
  assert.ok(result.tokens <= 7000);
});

for (const [given, why] of [
  [{ window: 0 }, /window 0 must be a number of tokens above 0/],
  [{ window: 4000, reserve: -5 }, /reserve -5 must be from 0 to less than the window, 4000/],
  [{ window: 4000, fixed: Number.NaN }, /fixed NaN must be 0 or more tokens/],
  [{ window: 4000, keep: [] }, /keep is an empty list/],
] as const) {
  test(`${JSON.stringify(given)} is refused with what is allowed`, async () => {
    await assert.rejects(compactMessages([{ role: "user", content: "Hello." }], given), why);
  });
}

test("an option that isn't one is refused by name, with the nearest that is", async () => {
  const wrong = { window: 6000, triger: { type: "messages", value: 12 }, summarization: {}, keep: undefined } as never;
  await assert.rejects(compactMessages([{ role: "user", content: "hi" }], wrong), (error: Error) => {
    assert.match(error.message, /triger is not an option; did you mean trigger\?/);
    assert.match(error.message, /summarization is not an option/);
    return true;
  });
});

test("many messages are counted in turns, so that a server answers others meanwhile", async (t) => {
  // Each look at the clock comes after as long as work may keep the others waiting.
  let ms = performance.now();
  t.mock.method(performance, "now", () => (ms += 10));
  let counted = 0;
  const forget = (): void => {
    counted = 0;
    turn = setImmediate(forget);
  };
  let turn = setImmediate(forget);
  t.after(() => clearImmediate(turn));
  let most = 0;
  const counter = (text: string): number => {
    counted += text.length;
    most = Math.max(most, counted);
    return Math.ceil(text.length / 4);
  };
  const all = Array.from({ length: 100 }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `Message ${index}: ${"the tide comes in. ".repeat(100)}`,
  }));
  const { outcome } = await compactMessages(all, { window: 200_000, counter });
  assert.equal(outcome.kind, "unchanged");
  assert.ok(most < 2 * all[0]!.content.length, `${most}`);
});

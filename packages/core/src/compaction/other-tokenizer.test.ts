/** A trigger in `tokens` speaks of the conversation as the provider counts it, whatever the provider makes of prompt and tools. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ViewEntry } from "../log/view.ts";
import { type OpenAiMessage, shapeOf } from "../message/internal.ts";
import { openaiRules } from "../message/rules.ts";
import { buildPrompt, type Prompt, sizeOf } from "../prompt/prompt.ts";
import { createSizer, fixedSize } from "../prompt/sizer.ts";
import { charsPerToken, createAccount, createMeter } from "../tokens/internal.ts";
import { cutSizes } from "./cut.ts";

const shape = shapeOf("openai");
const meter = createMeter(shape, { counter: charsPerToken(4) });

test("a conversation is as large as its provider counts it, also where prompt and tools count quite differently", () => {
  fc.assert(
    fc.property(provider, (given) => {
      const played = play(given, 40);
      const { total, outside } = cutSizes(played.prompt, { format: "pair" });
      const off = (total - outside) / played.conversation - 1;
      assert.ok(Math.abs(off) < 0.1, `off by ${off.toFixed(3)}, ${total - outside} for ${played.conversation}`);
    }),
    { numRuns: 200 },
  );
});

test("the fixed part keeps what the first report made of it when a compaction changes the view", () => {
  const given = { fixed: 1500, fixedFactor: 1.67, factor: 1.1, words: 80 };
  const { prompt, conversation } = play(given, 40, 20);
  const { total, outside } = cutSizes(prompt, { format: "pair" });
  assert.ok(Math.abs((total - outside) / conversation - 1) < 0.1, `${total - outside} for ${conversation}`);
});

test("one wrong report doesn't move the conversation's tokens to the fixed part for good", () => {
  const given = { fixed: 1500, fixedFactor: 1.2, factor: 1.1, words: 80 };
  const { prompt, conversation } = play({ ...given, firstReport: 20_000 }, 30);
  const { total, outside } = cutSizes(prompt, { format: "pair" });
  assert.ok(Math.abs((total - outside) / conversation - 1) < 0.15, `${total - outside} for ${conversation}`);
});

interface Provider {
  /** Prompt and tools, as we count them. */
  readonly fixed: number;
  /** What the provider makes of one of our tokens, there and in messages. */
  readonly fixedFactor: number;
  readonly factor: number;
  /** Length of a message. */
  readonly words: number;
  /** What it reports for the first call; unset: the truth. */
  readonly firstReport?: number;
}

const provider: fc.Arbitrary<Provider> = fc.record({
  fixed: fc.integer({ min: 200, max: 6000 }),
  fixedFactor: fc.double({ min: 0.7, max: 2, noNaN: true }),
  factor: fc.double({ min: 0.8, max: 1.8, noNaN: true }),
  words: fc.integer({ min: 100, max: 400 }),
});

/** Questions and answers, a report for each answer; `cutAt` hides what came before behind a summary. */
function play({ fixed, fixedFactor, factor, words, firstReport }: Provider, messages: number, cutAt = messages) {
  const sizer = createSizer({ shape, rules: openaiRules, meter, fixed: fixedSize({ base: fixed }) });
  sizer.countOn({ account: createAccount(), model: "m", prior: 1 });
  let view: ViewEntry<OpenAiMessage>[] = [];
  let key = "-/-";
  const build = (): Prompt<OpenAiMessage> => buildPrompt(view, { sizer, key });
  const size = (): number => Math.round(factor * view.reduce((sum, { message }) => sum + meter.message(message), 0));
  for (let seq = 1; seq <= messages; seq += 2) {
    if (seq >= cutAt && key === "-/-") {
      key = `${seq}/-`;
      const summary: OpenAiMessage = { role: "user", content: "what was said ".repeat(120) };
      view = [{ source: "summary", seq: null, message: summary, addition: null }, ...view.slice(-6)];
    }
    view.push(said(seq, { role: "user", content: "word ".repeat(words) }));
    const sent = build();
    const input = Math.round(fixed * fixedFactor) + size();
    const answer: OpenAiMessage = { role: "assistant", content: "word ".repeat(words) };
    const output = Math.round(factor * meter.message(answer));
    sizer.settle({ of: seq + 1, input: seq === 1 ? (firstReport ?? input) : input, output }, sizeOf(sent), null);
    view.push(said(seq + 1, answer));
  }
  return { prompt: build(), conversation: size() };
}

function said(seq: number, message: OpenAiMessage): ViewEntry<OpenAiMessage> {
  return { source: "message", seq, message, addition: null };
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { randomConversation, render } from "@palimpsest/testing/internal/shapes";
import fc from "fast-check";
import { sent } from "../log/structure.ts";
import type { ViewEntry } from "../log/view.ts";
import { boundReasoning, reasoningBinder } from "../message/bound-reasoning.ts";
import { type Dialect, type Part, repair, type Shape, shapeOf } from "../message/internal.ts";
import { anthropicRules, googleRules, openaiRules } from "../message/rules.ts";
import { charsPerToken, createAccount, createMeter, type EntrySize } from "../tokens/internal.ts";
import { buildPrompt, considerPrompt, type Prompt } from "./prompt.ts";
import { type BindReasoning, createSizer, entryTokens, fixedSize, type Sizer, sizesOf } from "./sizer.ts";

const RULES = [openaiRules, anthropicRules, googleRules];
const MODEL = { model: "m", prior: 1.1 };
const scenario = fc.record({
  seed: fc.nat(),
  dialect: fc.constantFrom<Dialect>("openai", "anthropic", "ai-sdk"),
  rules: fc.constantFrom(...RULES),
  messages: fc.integer({ min: 0, max: 40 }),
  wild: fc.boolean(),
  additions: fc.array(fc.nat({ max: 39 }), { maxLength: 4 }),
  steps: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 12 }),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

test("a prompt grown step by step is the prompt built at once, whatever is broken or added on the way", () => {
  fc.assert(
    fc.property(scenario, (given) => {
      const { view, sizer, shape } = open(given);
      let before: Prompt<object> | null = null;
      let end = 0;
      for (const step of given.steps) {
        end = Math.min(view.length, end + step);
        const shown = view.slice(0, end);
        before = buildPrompt(shown, { sizer, key: "-/-", before });
        assertSame(before, buildPrompt(shown, { sizer, key: "-/-" }));
        // A message may get an addition after it was sent, and a step may be taken back.
        const entries = shown.map((entry, index) =>
          given.additions.includes(index) && shape.role(entry.message) === "user"
            ? { ...entry, addition: "of use" }
            : entry,
        );
        assertSame(buildPrompt(entries, { sizer, key: "-/-", before }), buildPrompt(entries, { sizer, key: "-/-" }));
        const shorter = shown.slice(0, end - step);
        assertSame(buildPrompt(shorter, { sizer, key: "-/-", before }), buildPrompt(shorter, { sizer, key: "-/-" }));
      }
    }),
    { numRuns: 200 },
  );
});

test("a prompt grown out of another sizer's is the one built at once, whether that one sizes alike or not", () => {
  fc.assert(
    fc.property(scenario, fc.constantFrom(...RULES), fc.boolean(), (given, rules, alike) => {
      const { view, sizer, shape, meter } = open(given);
      const other = alike ? meter : createMeter(shape, { counter: charsPerToken(3) });
      const before = buildPrompt(view.slice(0, -given.steps[0]!), {
        sizer: createSizer({ shape, rules, meter: other }),
        key: "-/-",
      });
      assertSame(buildPrompt(view, { sizer, key: "-/-", before }), buildPrompt(view, { sizer, key: "-/-" }));
    }),
    { numRuns: 100 },
  );
});

test("a prompt's messages are the view with its additions, repaired", () => {
  fc.assert(
    fc.property(scenario, (given) => {
      const { view, sizer, shape } = open(given);
      const prompt = buildPrompt(view, { sizer, key: "-/-" });
      const whole = view.map((entry) => sent(entry, shape));
      const { messages, repairs, origins } = repair(whole, shape, given.rules);
      assert.deepEqual(prompt.messages, messages);
      assert.deepEqual(prompt.repairs, repairs);
      assert.deepEqual(
        prompt.sources,
        origins.map((at) => view[at]?.source ?? "added"),
      );
    }),
    { numRuns: 100 },
  );
});

test("a prompt counts what its account makes of its fixed part, its entries and what repairs add", () => {
  fc.assert(
    fc.property(scenario, fc.nat({ max: 3000 }), (given, fixed) => {
      const { view, sizer, shape, meter } = open(given);
      const account = createAccount();
      const entries = view.map((entry): EntrySize => {
        const addition = entry.addition === null ? 0 : meter.text(entry.addition) + 4;
        return { seq: entry.seq, tokens: meter.message(entry.message) + addition };
      });
      const shown = entries.reduce((sum, { tokens }) => sum + tokens, 0);
      const repaired = repair(
        view.map((entry) => sent(entry, shape)),
        shape,
        given.rules,
      ).messages.reduce((sum, message) => sum + meter.message(message), 0);
      const all = repaired > shown ? [...entries, { seq: null, tokens: repaired - shown }] : entries;
      const size = { view: "-/-", fixed, entries: all };
      sizer.fix(fixedSize({ base: fixed }));
      const estimate = Math.max(1, fixed + Math.max(shown, repaired));
      assert.deepEqual(buildPrompt(view, { sizer, key: "-/-" }).count, { tokens: estimate, source: "estimated" });
      sizer.countOn({ account, ...MODEL });
      assert.deepEqual(buildPrompt(view, { sizer, key: "-/-" }).count, account.count(size, MODEL));
      const report = { of: view.length + 1, input: Math.ceil(estimate * 1.3), output: 12 };
      sizer.settle(report, size, null);
      const prompt = buildPrompt(view, { sizer, key: "-/-" });
      assert.deepEqual(prompt.count, account.count(size, MODEL));
      const whole = prompt.fixedFactor * fixed + prompt.factor * (estimate - fixed);
      assert.ok(Math.abs(whole - prompt.count.tokens) < 1e-6 || estimate - fixed < 1);
    }),
    { numRuns: 100 },
  );
});

test("sizes in a prompt are the meter's, times what one of its tokens comes to in the count", () => {
  const { view, sizer, meter } = open({ ...PLAIN, messages: 12, additions: [2] });
  sizer.countOn({ account: createAccount({ factors: { m: 1.7 } }), ...MODEL });
  const prompt = buildPrompt(view, { sizer, key: "-/-" });
  const { message, text } = sizesOf(prompt);
  for (const entry of prompt.entries) {
    const own = Math.ceil(meter.message(entry.message) * prompt.factor);
    assert.equal(message(entry.message), own);
    assert.equal(entryTokens(entry, prompt.factor), own + (entry.addition === null ? 0 : text(entry.addition) + 4));
  }
});

test("a prompt that is only considered is counted by the factor of the one it would replace", () => {
  const { view, sizer, meter } = open({ ...PLAIN, messages: 20 });
  sizer.countOn({ account: createAccount({ factors: { m: 1.5 } }), ...MODEL });
  sizer.fix(fixedSize({ base: 100, definitions: 50 }));
  const prompt = buildPrompt(view, { sizer, key: "-/-" });
  const less = considerPrompt(view.slice(0, 8), prompt);
  assert.equal(less.count.tokens, Math.ceil((150 + meter.messages(less.messages)) * prompt.factor));
  assert.deepEqual(considerPrompt(view, prompt).count.tokens, prompt.count.tokens);
});

test("a thought that is left out isn't counted, in its entry, in the whole and in a prompt that is only considered", () => {
  const shape = shapeOf("anthropic") as Shape<object>;
  const thought = {
    kind: "reasoning",
    text: "hm ".repeat(400),
    signature: "s",
    signedBy: "anthropic",
    redacted: false,
  };
  const answer = [{ kind: "text", text: "yes" }] as const;
  const view = (...messages: readonly object[]) =>
    messages.map(
      (message, index): ViewEntry<object> => ({ source: "message", seq: index + 1, message, addition: null }),
    );
  const [one, two] = [shape.turn("user", "one"), shape.turn("user", "two")];
  const [thinking] = shape.make("assistant", [thought as Part, ...answer]);
  const plain = shape.select(thinking!, [1]);
  const meter = createMeter(shape, { counter: charsPerToken(4) });
  const hash = (text: string): string => text;
  const { prefix } = boundReasoning([one], { shape, hash, fixed: "fixed", madeUnder: () => undefined });
  const bind = reasoningBinder({ shape, hash, madeUnder: () => prefix });
  const open = (given: BindReasoning<object> | null) =>
    createSizer({ shape, rules: anthropicRules, meter, bind: given });
  const binding = open((messages) => bind(messages, "fixed"));
  const kept = buildPrompt(view(one, thinking!, two), { sizer: binding, key: "-/-" });
  assert.equal(
    kept.count.tokens,
    buildPrompt(view(one, thinking!, two), { sizer: open(null), key: "-/-" }).count.tokens,
  );

  const changed = view(two, thinking!, two);
  const without = buildPrompt(view(two, plain, two), { sizer: open(null), key: "-/-" });
  for (const prompt of [
    buildPrompt(changed, { sizer: binding, key: "-/-" }),
    buildPrompt(changed, { sizer: binding, key: "-/-", before: kept }),
    considerPrompt(changed, kept),
  ]) {
    assert.deepEqual(prompt.messages, without.messages);
    assert.equal(prompt.count.tokens, without.count.tokens);
    assert.deepEqual(
      prompt.entries.map(({ tokens }) => tokens),
      without.entries.map(({ tokens }) => tokens),
    );
  }
});

const PLAIN: Scenario = {
  seed: 7,
  dialect: "openai",
  rules: openaiRules,
  messages: 10,
  wild: false,
  additions: [],
  steps: [1],
};

function open({ seed, dialect, messages, wild, additions, rules }: Scenario) {
  const shape = shapeOf(dialect) as Shape<object>;
  const script = randomConversation(seed, { messages, wild, longest: 200, dangling: wild ? 0.2 : 0, reusedIds: 0.3 });
  const view = render(script, shape).map(
    (message, index): ViewEntry<object> => ({
      source: "message",
      seq: index + 1,
      message,
      addition: additions.includes(index) && shape.role(message) === "user" ? "remember this" : null,
    }),
  );
  const meter = createMeter(shape, { counter: charsPerToken(4) });
  const sizer: Sizer<object> = createSizer({ shape, rules, meter });
  return { view, shape, meter, sizer };
}

function assertSame<M>(one: Prompt<M>, other: Prompt<M>): void {
  const { asSent: mine, ...rest } = one;
  const { asSent: theirs, ...expected } = other;
  assert.deepEqual(rest, expected);
  assert.deepEqual(mine.origins, theirs.origins);
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { plainPrompt } from "@palimpsest/testing/internal/shapes";
import fc from "fast-check";
import { applyPrune } from "../log/apply-prune.ts";
import { type AnthropicMessage, anthropicShape } from "../message/anthropic.ts";
import { type OpenAiMessage, openaiShape } from "../message/openai.ts";
import type { Shape } from "../message/shape.ts";
import { RELATIVE_PRICES } from "../pricing/prices.ts";
import { RECALL } from "../summary/render-lines.ts";
import { charsPerToken, createMeter } from "../tokens/counter.ts";
import { decidePrune, type PruneDecision, type PruneOptions } from "./prune.ts";

const meter = createMeter(openaiShape, { counter: charsPerToken(4) });
const eager = { from: 0, protectTokens: 200, minGainTokens: 1, minPartTokens: 30 };
const originals = { ...RECALL, folder: "history/" };
const atOnce = { cache: "cold", policy: { ...eager, useAgain: 0, payback: 1e6 }, originals } as const;

const user = (text: string): OpenAiMessage => ({ role: "user", content: text });
const call = (id: string, name: string, input: object): OpenAiMessage => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(input) } }],
});
const result = (id: string, text: string): OpenAiMessage => ({ role: "tool", tool_call_id: id, content: text });
const filler = (words: number): string => "plain words that name nothing ".repeat(words);
const later = (): OpenAiMessage[] => [user("go on"), { role: "assistant", content: filler(60) }, user("and now?")];

test("a stale output leaves its path, its size and the way back", () => {
  const [text] = prunedTexts([call("1", "read", { path: "src/a.ts" }), result("1", filler(80)), ...later()]);
  assert.match(text!, /^\[pruned: read src\/a\.ts, .*; recall_read 2 or history\/ has it\]/);
});

test("[F50] the failing lines and the exit code of a command survive, whatever surrounds them", () => {
  const log = `${filler(80)}\nsrc/a.ts:12:5 - error TS2322: Type 'x' is not assignable\n${filler(80)}\nexit code: 2`;
  const [text] = prunedTexts([call("1", "bash", { command: "npm run check" }), result("1", log), ...later()]);
  assert.match(text!, /bash `npm run check`/);
  assert.match(text!, /src\/a\.ts:12:5 - error TS2322: Type 'x' is not assignable/);
  assert.match(text!, /exit code 2/);
});

test("of many failing lines 8 stay, and a name they show is not listed again beside them", () => {
  const failing = Array.from({ length: 12 }, (_, line) => `src/a.ts:${line} - error TS2322: sharedName is missing`);
  const log = [filler(80), ...failing, filler(80), "onlyHere"].join("\n");
  const [text] = prunedTexts([call("1", "bash", { command: "npm run check" }), result("1", log), ...later()]);
  assert.equal(text!.match(/error TS2322/g)!.length, 8);
  assert.match(text!, /\nnames: .*onlyHere/);
  assert.doesNotMatch(text!, /\nnames: .*sharedName/);
});

test("the newest part of the view is protected up to exactly its tokens", () => {
  const read = (id: string) => [call(id, "read", { path: `${id}.ts` }), result(id, filler(80))];
  const view = [...read("1"), ...read("2"), { role: "assistant", content: "both read" } as const, user("and now?")];
  const tail = view.slice(3).reduce((sum, message) => sum + meter.message(message), 0);
  const pruned = (protectTokens: number): number[] =>
    entriesOf(decide(view, { ...atOnce, policy: { ...atOnce.policy, protectTokens } })).map(({ target }) => target);
  assert.deepEqual(pruned(tail), [2]);
  assert.deepEqual(pruned(tail - 1), [2, 4]);
});

test("a source file that speaks of errors hasn't failed", () => {
  const source = `throw new Error("error: boom happened here");\n${filler(80)}`;
  const [text] = prunedTexts([call("1", "read", { path: "a.ts" }), result("1", source), ...later()]);
  assert.doesNotMatch(text!, /boom happened/);
});

test("names stay exactly when nothing else in the prompt holds them", () => {
  const output = `${filler(80)} onlyHere alsoSaidLater`;
  const [text] = prunedTexts([
    call("1", "bash", { command: "x" }),
    result("1", output),
    user("what about alsoSaidLater?"),
    ...later(),
  ]);
  assert.match(text!, /\bonlyHere\b/);
  assert.doesNotMatch(text!, /alsoSaidLater/);
});

test("a file read in full again makes its first reading superseded, the same call made again makes it repeated", () => {
  const reading = (id: string, path: string, more = {}): OpenAiMessage[] => [
    call(id, "read", { path, ...more }),
    result(id, filler(80)),
  ];
  const reasons = (first: OpenAiMessage[], second: OpenAiMessage[]): string[] =>
    entriesOf(decide([...first, ...second, ...later()], atOnce)).map((entry) => `${entry.target} ${entry.reason}`);
  assert.deepEqual(reasons(reading("1", "a.ts", { offset: 5 }), reading("2", "a.ts")), [
    "2 superseded",
    "4 stale-output",
  ]);
  assert.deepEqual(reasons(reading("1", "a.ts"), reading("2", "a.ts")), ["2 repeated", "4 stale-output"]);
  assert.deepEqual(reasons(reading("1", "a.ts"), reading("2", "b.ts")), ["2 stale-output", "4 stale-output"]);
});

test("what may be wanted again stays where fetching it costs more than it saves; what stands again later goes", () => {
  const reading = (id: string): OpenAiMessage[] => [call(id, "read", { path: "a.ts" }), result(id, filler(80))];
  const view = [...reading("1"), ...reading("2"), ...later()];
  const pruned = (useAgain: number): number[] =>
    entriesOf(decide(view, { cache: "cold", policy: { ...eager, useAgain, horizon: 0, payback: 1e6 } })).map(
      ({ target }) => target,
    );
  assert.deepEqual(pruned(0), [2, 4]);
  assert.deepEqual(pruned(1), [2]);
});

test("what the model wrote itself stays, however old it is and whatever has become of it since", () => {
  const view = [
    call("1", "edit", { path: "src/a.ts", oldText: filler(40), newText: filler(40) }),
    result("1", "ok"),
    call("2", "write", { path: "src/b.ts", content: filler(80) }),
    result("2", "ok"),
    call("3", "write", { path: "src/b.ts", content: "short" }),
    result("3", "ok"),
    ...later(),
  ];
  assert.deepEqual(decide(view, atOnce), { kind: "none", reason: "nothing-to-prune" });
});

test("where the provider reads only at marks, a pass pays for everything behind the last mark before it", () => {
  const step = (id: string, size: number): OpenAiMessage[] => [
    call(id, "bash", { command: id }),
    result(id, filler(size)),
  ];
  const steps = (count: number): OpenAiMessage[] => Array.from({ length: count }, (_, at) => step(`s${at}`, 2)).flat();
  const own: OpenAiMessage = { role: "assistant", content: filler(100) };
  const firstPass = (marks: readonly number[] | null): number => {
    for (let count = 1; count < 60; count++) {
      const view = [user("do it"), own, ...step("1", 300), ...steps(count)];
      if (decide(view, { policy: { ...eager, useAgain: 0 }, marks }).kind === "prune") return count;
    }
    return 60;
  };
  assert.equal(firstPass([2]), firstPass(null), "a mark right before the cut is as good as any prefix");
  assert.ok(firstPass(null) < firstPass([]), "without one the long answer before it is written again too");
  assert.equal(firstPass([4]), firstPass([]), "a mark behind the cut helps nothing");
});

test("an input that isn't JSON, or holds a number JavaScript can't, is left alone", () => {
  const broken = (input: string): OpenAiMessage => ({
    role: "assistant",
    tool_calls: [{ id: "1", type: "function", function: { name: "write", arguments: input } }],
  });
  for (const input of [`{"text": "${filler(80)}`, `{"id": 12345678901234567890, "text": "${filler(80)}"}`])
    assert.equal(decide([broken(input), result("1", "ok"), ...later()], atOnce).kind, "none");
});

test("[F19] a call beside signed reasoning is never edited", () => {
  const signed = (signature: string): AnthropicMessage => ({
    role: "assistant",
    content: [
      { type: "thinking", thinking: "hm", signature },
      { type: "tool_use", id: "1", name: "write", input: { path: "a.ts", content: filler(80) } },
    ],
  });
  const messages: AnthropicMessage[] = [
    { role: "user", content: "write it" },
    signed("c2lnbmVk"),
    { role: "user", content: [{ type: "tool_result", tool_use_id: "1", content: "ok" }] },
    { role: "assistant", content: filler(80) },
    { role: "user", content: "thanks" },
  ];
  const decision = decidePrune(plainPrompt(numbered(messages), anthropicShape), atOnce);
  assert.equal(decision.kind, "none");
});

test("[F20] words of the user and of the model stay, however long and old", () => {
  const view = [user(filler(200)), { role: "assistant", content: filler(200) } as OpenAiMessage, ...later()];
  assert.equal(decide(view, atOnce).kind, "none");
});

test("an old picture becomes a line, the one in the current request stays", () => {
  const picture = (): OpenAiMessage => ({
    role: "user",
    content: [
      { type: "text", text: "look" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(4000)}` } },
    ],
  });
  const view = [picture(), { role: "assistant", content: filler(60) } as OpenAiMessage, picture()];
  const entries = entriesOf(decide(view, { ...atOnce, policy: { ...atOnce.policy, protectTokens: 0 } }));
  assert.deepEqual(
    entries.map(({ target, reason }) => [target, reason]),
    [[1, "old-image"]],
  );
});

test("[F31] a warm cache is broken only when the reads wasted outweigh the rewrite, a cold one at once", () => {
  const output = [call("1", "bash", { command: "x" }), result("1", filler(300))];
  const steps = (count: number): OpenAiMessage[] =>
    Array.from({ length: count }, (_, step) => [
      call(`s${step}`, "bash", { command: `step ${step}` }),
      result(`s${step}`, "done, nothing to say about it"),
    ]).flat();
  const policy = { ...eager, useAgain: 0 };
  const firstPass = (cache: "warm" | "cold"): number => {
    for (let count = 1; count < 100; count++)
      if (decide([user("do it"), ...output, ...steps(count)], { policy, cache }).kind === "prune") return count;
    return 100;
  };
  assert.ok(firstPass("cold") < firstPass("warm"), "a cold cache doesn't wait");
  assert.ok(firstPass("warm") < 100, "a warm one doesn't wait for ever");
});

test("a small view and a small gain are left alone", () => {
  const view = [user("x"), call("1", "bash", { command: "x" }), result("1", filler(300)), ...later()];
  const cold = { cache: "cold" } as const;
  assert.deepEqual(decide(view, { ...cold, policy: { ...eager, from: 1e6 } }), { kind: "none", reason: "small-view" });
  assert.deepEqual(decide(view, { ...cold, policy: { ...eager, minGainTokens: 1e6 } }), {
    kind: "none",
    reason: "min-gain",
  });
});

test("prices of zero decide nothing by dividing", () => {
  const free = { ...RELATIVE_PRICES, input: 0, cacheRead: 0, cacheWrite: 0, output: 0, ttlMs: 0 };
  const view = [user("x"), call("1", "bash", { command: "x" }), result("1", filler(300)), ...later()];
  for (const cache of ["warm", "cold"] as const)
    assert.ok(["prune", "none"].includes(decide(view, { prices: free, cache, policy: eager }).kind));
});

const TEXT = fc.array(
  fc.constantFrom("plain words", "someName", "src/a/b.ts", "error: it broke", '"quoted"', "\\n", "漢字"),
  {
    maxLength: 120,
  },
);
const STEP = fc.record({
  tool: fc.constantFrom("read", "bash", "edit", "write", "lookup"),
  path: fc.constantFrom("a.ts", "b.ts", "c/d.ts"),
  input: TEXT,
  output: TEXT,
  said: fc.option(fc.constantFrom("go on", "and then?"), { freq: 6 }),
});

test("whatever is pruned: valid, shorter, paired as before, the same every time, and never twice", () => {
  fc.assert(
    fc.property(
      fc.array(STEP, { maxLength: 25 }),
      fc.boolean(),
      fc.constantFrom(null, [], [2], [3, 9]),
      (steps, cold, marks) => {
        const messages = [user("begin"), ...steps.flatMap(played)];
        const options = { cache: cold ? "cold" : "warm", policy: eager, marks } as const;
        const decision = decide(messages, options);
        assert.deepEqual(decide(structuredClone(messages), options), decision);
        if (decision.kind === "none") return;
        const before = numbered(messages);
        const after = applied(before, decision, openaiShape);
        for (const [index, { message }] of after.entries()) {
          const was = before[index]!.message;
          assert.deepEqual(openaiShape.calls(message), openaiShape.calls(was));
          assert.deepEqual(openaiShape.answers(message), openaiShape.answers(was));
          for (const part of openaiShape.parts(message)) if (part.kind === "call") JSON.parse(part.input);
        }
        for (const { target, part } of decision.entries)
          assert.notEqual(openaiShape.parts(before[target - 1]!.message)[part]!.kind, "text");
        assert.ok(decision.tokensAfter < decision.tokensBefore);
        assert.equal(meter.messages(after.map(({ message }) => message)), decision.tokensAfter);
        const again = entriesOf(decidePrune(plainPrompt(after, openaiShape), options));
        const done = new Set(decision.entries.map(({ target, part }) => `${target}:${part}`));
        assert.ok(again.every(({ target, part }) => !done.has(`${target}:${part}`)));
      },
    ),
    { numRuns: 300 },
  );
});

function played(
  step: { tool: string; path: string; input: string[]; output: string[]; said: string | null },
  at: number,
) {
  const input = { path: step.path, text: step.input.join(" "), command: step.tool === "bash" ? "make" : undefined };
  const said = step.said === null ? [] : [user(step.said)];
  return [call(`c${at}`, step.tool, input), result(`c${at}`, step.output.join("\n")), ...said];
}

function decide(messages: readonly OpenAiMessage[], options: Partial<PruneOptions>): PruneDecision {
  return decidePrune(plainPrompt(numbered(messages), openaiShape), { cache: "warm", ...options });
}

interface Numbered<M> {
  readonly seq: number;
  readonly message: M;
}

function numbered<M>(messages: readonly M[]): Numbered<M>[] {
  return messages.map((message, index) => ({ seq: index + 1, message }));
}

function entriesOf(decision: PruneDecision) {
  return decision.kind === "prune" ? decision.entries : [];
}

function prunedTexts(messages: readonly OpenAiMessage[]): string[] {
  return entriesOf(decide(messages, atOnce)).map((entry) => entry.replacement);
}

function applied<M>(view: readonly Numbered<M>[], decision: PruneDecision, shape: Shape<M>): Numbered<M>[] {
  return view.map((entry) => ({
    ...entry,
    message: entriesOf(decision)
      .filter(({ target }) => target === entry.seq)
      .reduce((message, prune) => applyPrune(message, prune, shape), entry.message),
  }));
}

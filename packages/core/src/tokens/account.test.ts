import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createAccount, type EntrySize, type PromptSize, resumeAccount, viewKey } from "./account.ts";

const claude = { model: "claude", prior: 1 };
const other = { model: "gpt", prior: 1 };
const entries = (...tokens: number[]): EntrySize[] => tokens.map((count, index) => ({ seq: index + 1, tokens: count }));
const prompt = (list: readonly EntrySize[], view = "first", fixed = 0): PromptSize => ({ view, fixed, entries: list });

test("[F23] without a report the count covers system prompt and tools and says that it is estimated", () => {
  const count = createAccount().count(prompt(entries(10, 20), "first", 500), { model: "claude", prior: 1.2 });
  assert.deepEqual(count, { tokens: 636, source: "estimated" });
});

test("a factor kept in the head serves the first count, within bounds", () => {
  const first = prompt(entries(1000));
  assert.equal(createAccount({ factors: { claude: 1.3 } }).count(first, claude).tokens, 1300);
  assert.equal(createAccount({ factors: { claude: 200 } }).count(first, claude).tokens, 2000);
  assert.equal(createAccount({ factors: { claude: Number.NaN } }).count(first, claude).tokens, 1000);
});

test("the same prompt counts exactly as reported, and grown on it is the report plus the rest", () => {
  const account = createAccount();
  const sent = prompt(entries(1000));
  account.settle({ of: 2, input: 1234, output: 300 }, { ...claude, prompt: sent, window: null });
  assert.deepEqual(account.count(sent, claude), { tokens: 1234, source: "reported" });
  // The answer (counted 290) adds its reported output; the tool result its estimate.
  const grown = prompt(entries(1000, 290, 50));
  assert.deepEqual(account.count(grown, claude), { tokens: 1234 + 300 + 50, source: "anchored" });
});

test("an answer's output is not believed when it can't be what the message adds", () => {
  const settle = (output: number) => {
    const account = createAccount();
    account.settle({ of: 2, input: 1000, output }, { ...claude, prompt: prompt(entries(1000)), window: null });
    return account.count(prompt(entries(1000, 400)), claude).tokens;
  };
  assert.equal(settle(5), 1400, "an aborted call reports too little");
  assert.equal(settle(9000), 1400, "hidden reasoning is billed but not sent again");
  assert.equal(settle(Number.NaN), 1400);
  assert.equal(settle(450), 1450);
});

test("a provider whose outputs don't come back in the prompt is believed less after a few calls", () => {
  const account = createAccount();
  const list: EntrySize[] = [{ seq: 1, tokens: 1000 }];
  for (let step = 0; step < 5; step += 1) {
    // Each answer is billed at 500, of which 200 were hidden reasoning.
    const input = 1000 + step * 400;
    const of = list.length + 1;
    account.settle({ of, input, output: 500 }, { ...claude, prompt: prompt([...list]), window: null });
    list.push({ seq: of, tokens: 300 }, { seq: of + 1, tokens: 100 });
  }
  assert.deepEqual(account.count(prompt(list), claude), { tokens: 3000, source: "anchored" });
});

test("[F26] a compacted view is the report less what was hidden plus what stands for it", () => {
  const account = createAccount();
  const before = entries(1000, 2000, 3000, 500);
  account.settle({ of: 5, input: 6500, output: 100 }, { ...claude, prompt: prompt(before), window: null });
  const after = [{ seq: null, tokens: 200 }, before[3]!, { seq: 5, tokens: 100 }];
  assert.deepEqual(account.count(prompt(after, "compacted"), claude), { tokens: 800, source: "adjusted" });
});

test("[F26] hidden messages are subtracted as the reports around them measured them, not as estimated", () => {
  const account = createAccount();
  const list = entries(100, 50, 1000, 50, 1000);
  account.settle({ of: 2, input: 5100, output: 50 }, { ...claude, prompt: prompt(list.slice(0, 1)), window: null });
  account.settle({ of: 4, input: 6550, output: 50 }, { ...claude, prompt: prompt(list.slice(0, 3)), window: null });
  account.settle({ of: 6, input: 7400, output: 50 }, { ...claude, prompt: prompt(list), window: null });
  // 5,000 unseen, then 50 + 1,400 and 50 + 800: each result's own growth is known.
  const withoutFirst = prompt([list[0]!, list[3]!, list[4]!], "compacted");
  assert.deepEqual(account.count(withoutFirst, claude), { tokens: 5950, source: "adjusted" });
  const pruned = prompt([...list.slice(0, 2), { seq: 3, tokens: 10 }, ...list.slice(3)], "pruned");
  assert.ok(Math.abs(account.count(pruned, claude).tokens - 6010) <= 10, "a pruned message no longer has its old size");
});

test("[F26] a message that never reached the prompt is not subtracted when it is hidden", () => {
  const account = createAccount();
  const list = entries(10_000, 4000, 100);
  const sent = (length: number) => ({ ...claude, prompt: prompt(list.slice(0, length)), window: null });
  account.settle({ of: 2, input: 10_000, output: 5 }, sent(1));
  assert.equal(account.settle({ of: 4, input: 10_100, output: 50 }, sent(3)).kind, "accepted");
  assert.deepEqual(account.count(prompt(list.slice(0, 1), "compacted"), claude), {
    tokens: 10_000,
    source: "adjusted",
  });
});

test("[F26] reports of a session that was compacted elsewhere don't shrink the count of its whole log", () => {
  const account = createAccount();
  const list: EntrySize[] = [];
  let input = 2000;
  let ignored = 0;
  for (let step = 0; step < 60; step += 1) {
    // At steps 20 and 40 the other program went on with a short summary that isn't in the log.
    if (step === 20 || step === 40) input = 10_000;
    list.push({ seq: list.length + 1, tokens: 5000 });
    input += 5000;
    const sent = { ...claude, prompt: prompt([...list]), window: 200_000 };
    if (account.settle({ of: list.length + 1, input, output: 10 }, sent).kind === "ignored") ignored += 1;
  }
  assert.equal(ignored, 40);
  assert.deepEqual(account.count(prompt(list), claude), { tokens: 302_000, source: "anchored" });
});

test("[F28] another model starts cold, and each model has its own factor", () => {
  const account = createAccount();
  settleGrowth(account, claude, { factor: 1.5, view: "a" });
  assert.equal(account.count(prompt(entries(100), "a"), other).source, "estimated");
  assert.equal(account.count(prompt(entries(100), "a"), other).tokens, 100);
  settleGrowth(account, other, { factor: 0.8, view: "b" });
  assert.ok(Math.abs(account.factors["claude"]! - 1.5) < 0.05);
  assert.ok(Math.abs(account.factors["gpt"]! - 0.8) < 0.05);
});

test("[F26] the factor is learned from growth within one view and stays within bounds", () => {
  for (const [factor, learned] of [
    [1.3, 1.3],
    [3.9, 2],
    [0.3, 0.5],
  ] as const) {
    const account = createAccount();
    settleGrowth(account, claude, { factor, view: "a" });
    assert.ok(Math.abs(account.factors["claude"]! - learned) < 0.05, `${factor}: ${account.factors["claude"]}`);
  }
});

test("[F26] a change of view teaches nothing", () => {
  const account = createAccount();
  account.settle({ of: 2, input: 50_000, output: 1 }, { ...claude, prompt: prompt(entries(50_000)), window: null });
  account.settle({ of: 9, input: 9000, output: 1 }, { ...claude, prompt: prompt(entries(3000), "new"), window: null });
  assert.equal(account.factors["claude"], 1);
});

test("[F26] impossible reports are ignored with their reason and leave the account as it was", () => {
  const cases = [
    [0, "zero"],
    [-5, "negative"],
    [Number.NaN, "not-a-number"],
    [Number.POSITIVE_INFINITY, "not-a-number"],
    [900_000, "over-window"],
    [190_000, "implausible"],
    [3, "implausible"],
  ] as const;
  for (const [input, reason] of cases) {
    const account = createAccount();
    const sent = prompt(entries(20_000));
    const context = { ...claude, prompt: sent, window: 200_000 };
    account.settle({ of: 2, input: 21_000, output: 10 }, context);
    assert.deepEqual(account.settle({ of: 3, input, output: 10 }, context), { kind: "ignored", reason });
    assert.deepEqual(account.count(sent, claude), { tokens: 21_000, source: "reported" });
  }
});

test("a view's key tells compaction and prune apart", () => {
  const keys = [
    { compaction: null, prune: null },
    { compaction: 7, prune: null },
    { compaction: null, prune: 7 },
    { compaction: 7, prune: 7 },
  ].map(viewKey);
  assert.equal(new Set(keys).size, keys.length);
});

test("a system prompt that grew is counted and not taken for a message's weight", () => {
  const account = createAccount();
  const sent = (list: EntrySize[], fixed: number) => ({
    ...claude,
    prompt: prompt(list, "first", fixed),
    window: null,
  });
  account.settle({ of: 2, input: 2000, output: 50 }, sent(entries(1000), 1000));
  assert.deepEqual(account.count(prompt(entries(1000), "first", 4000), claude), { tokens: 5000, source: "anchored" });
  account.settle({ of: 4, input: 5250, output: 50 }, sent(entries(1000, 50, 200), 4000));
  assert.equal(account.factors["claude"], 1);
});

test("the count never falls when a message is added, whatever was reported", () => {
  const size = fc.nat(5000);
  const history = fc.array(
    fc.record({ added: fc.array(size, { minLength: 1, maxLength: 4 }), input: fc.nat(90_000), output: size }),
  );
  fc.assert(
    fc.property(history, size, fc.constantFrom("first", "changed"), (steps, more, view) => {
      const account = createAccount();
      const list: EntrySize[] = [];
      for (const { added, input, output } of steps) {
        for (const tokens of added) list.push({ seq: list.length + 1, tokens });
        account.settle(
          { of: list.length + 1, input, output },
          { ...claude, prompt: prompt([...list]), window: 100_000 },
        );
      }
      const before = account.count(prompt(list, view), claude).tokens;
      const after = account.count(prompt([...list, { seq: list.length + 1, tokens: more }], view), claude).tokens;
      assert.ok(after >= before, `${before} then ${after}`);
      assert.ok(Number.isInteger(after) && after >= 0);
    }),
  );
});

test("what was added since the first report weighs in all what the reports say, whatever was estimated", () => {
  const size = fc.integer({ min: 1, max: 5000 });
  const step = fc.record({ answer: size, result: size, output: fc.nat(8000), grown: fc.nat(9000) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const account = createAccount();
      const list: EntrySize[] = [{ seq: 1, tokens: 20_000 }];
      let input = 21_000;
      account.settle(
        { of: 2, input, output: steps[0]?.output ?? 0 },
        { ...claude, prompt: prompt([...list]), window: null },
      );
      for (const [index, { answer, result, grown }] of steps.entries()) {
        list.push({ seq: list.length + 1, tokens: answer }, { seq: list.length + 2, tokens: result });
        input += grown;
        const report = { of: list.length + 1, input, output: steps[index + 1]?.output ?? 0 };
        if (account.settle(report, { ...claude, prompt: prompt([...list]), window: null }).kind === "ignored") return;
      }
      assert.ok(Math.abs(account.count(prompt(list.slice(0, 1), "compacted"), claude).tokens - 21_000) <= 1);
    }),
  );
});

test("a question about a prompt that is only considered changes nothing", () => {
  const account = createAccount();
  settleGrowth(account, claude, { factor: 1.2, view: "a" });
  const present = prompt(entries(100, 200, 300), "a");
  const before = account.count(present, claude);
  account.count(prompt(entries(5), "imagined"), claude);
  account.count(prompt([], "empty"), other);
  assert.deepEqual(account.count(present, claude), before);
});

/** Twenty reports of one view, each result reported at `factor` times its count. */
function settleGrowth(
  account: ReturnType<typeof createAccount>,
  model: typeof claude,
  { factor, view }: { factor: number; view: string },
): void {
  const list: EntrySize[] = [{ seq: 1, tokens: 1000 }];
  let input = 1000;
  for (let step = 0; step < 20; step += 1) {
    const of = list.length + 1;
    account.settle({ of, input, output: 20 }, { ...model, prompt: prompt([...list], view), window: null });
    list.push({ seq: of, tokens: 20 }, { seq: of + 1, tokens: 2000 });
    input += 20 + 2000 * factor;
  }
}

const live = { compaction: 4, prune: null };
const measured = { ...live, promptHash: null };
const view = viewKey(live);
const window = 200_000;

test("after a restart the account counts as the one that was running", () => {
  const size = fc.integer({ min: 1, max: 4000 });
  const step = fc.record({ answer: size, result: size, output: size, grown: fc.nat(9000) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 15 }), size, (steps, last) => {
      const running = createAccount();
      const entries: EntrySize[] = [
        { seq: null, tokens: 500 },
        { seq: 10, tokens: 100 },
      ];
      const usages = [];
      let input = 5000;
      for (const { answer, result, output, grown } of steps) {
        const of = entries.at(-1)!.seq! + 1;
        running.settle(
          { of, input, output },
          { model: "m", prior: 1.1, window, prompt: { view, fixed: 900, entries: [...entries] } },
        );
        usages.push({ of, model: "m", measured, input, output });
        entries.push({ seq: of, tokens: answer }, { seq: of + 2, tokens: result });
        input += grown;
      }
      entries.push({ seq: entries.at(-1)!.seq! + 1, tokens: last });
      const prompt = { view, fixed: 900, entries };
      const resumed = resumeAccount(usages, { prompt, factors: {}, priorOf: () => 1.1, window });
      const asked = { model: "m", prior: 1.1 };
      assert.deepEqual(resumed.count(prompt, asked), running.count(prompt, asked));
      assert.deepEqual(resumed.factors, running.factors);
    }),
  );
});

test("[F26] reports from before a compaction don't count for the view after it", () => {
  const old = {
    of: 11,
    model: "m",
    measured: { compaction: null, prune: null, promptHash: null },
    input: 150_000,
    output: 9,
  };
  const prompt = { view, fixed: 0, entries: [{ seq: 10, tokens: 3000 }] };
  const account = resumeAccount([old], { prompt, factors: { m: 1.2 }, priorOf: () => 1, window });
  assert.deepEqual(account.count(prompt, { model: "m", prior: 1 }), { tokens: 3600, source: "estimated" });
  // The act that made the view counted it by them.
  const act = { seq: 12, tokensAfter: 5000 };
  const adjusted = resumeAccount([old], { prompt, factors: { m: 1.2 }, priorOf: () => 1, window, act });
  assert.deepEqual(adjusted.count(prompt, { model: "m", prior: 1 }), { tokens: 5000, source: "adjusted" });
  const grown = { ...prompt, entries: [...prompt.entries, { seq: 13, tokens: 100 }] };
  assert.deepEqual(adjusted.count(grown, { model: "m", prior: 1 }), { tokens: 5120, source: "adjusted" });
  const later = { ...old, measured: { compaction: null, prune: 12, promptHash: null }, input: 4900 };
  const reported = resumeAccount([old, later], {
    prompt: { ...prompt, view: viewKey(later.measured) },
    factors: { m: 1.2 },
    priorOf: () => 1,
    window,
    act,
  });
  assert.equal(reported.count({ ...prompt, view: viewKey(later.measured) }, { model: "m", prior: 1 }).tokens, 4900);
});

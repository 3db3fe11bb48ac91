import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createAccount, type EntrySize, viewKey } from "./account.ts";
import { resumeAccount } from "./resume.ts";

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
});

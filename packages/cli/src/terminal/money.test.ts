import assert from "node:assert/strict";
import { test } from "node:test";
import { costLine, money } from "./output.ts";

test("amounts keep what says something, and all are in dollars", () => {
  assert.deepEqual(
    [0, 12.345, 0.5, 0.01234, 0.000056, -0.0031].map((amount) => money(amount)),
    ["$0.00", "$12.35", "$0.50", "$0.012", "$0.000056", "-$0.0031"],
  );
});

test("a cost says what was spent, what was saved by what, and what it can't know", () => {
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
  const spentOn = { answers: 0.02, subagents: 0, summaries: 0, memory: 0, embeddings: 0 };
  const saved = { savedByCache: 0, savedByPruning: 0 };
  const cost = { spent: 0.02, spentOn, ...saved, currency: "USD", usage, unpriced: [] } as const;
  assert.equal(costLine(cost), "spent $0.020");
  assert.equal(
    costLine({ ...cost, spentOn: { ...spentOn, subagents: 0.01, memory: 0.002 } }),
    "spent $0.020 (of it $0.010 for sub-agents, $0.0020 for memory)",
  );
  assert.equal(
    costLine({ ...cost, savedByCache: 0.5, savedByPruning: 0.25, unpriced: ["mine"] }),
    "spent $0.020; saved $0.50 by the cache, $0.25 by pruning (without mine, whose price is not known)",
  );
});

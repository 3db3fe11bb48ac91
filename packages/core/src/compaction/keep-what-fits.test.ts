// Where nobody says what to keep: how much stays, what is quoted beside the summary, and when prices ask for it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { plainPrompt } from "@palimpsest/testing/internal/shapes";
import { type OpenAiMessage, openaiShape } from "../message/openai.ts";
import { cheapestHeight, RELATIVE_PRICES } from "../pricing/prices.ts";
import { type CompactPlan, type Plan, type PlanOptions, planCompaction } from "./plan.ts";
import { limitsOf, type Policy, shortenedRequest } from "./policy.ts";

const POLICY: Policy = {
  trigger: [{ type: "fraction", value: 0.85 }],
  keep: null,
  lowWater: 0.6,
  minGain: 0.1,
  maxSummaryTokens: null,
  summaryFormat: "pair",
};
const words = (tokens: number): string => "lorem ipsum ".repeat(Math.ceil(tokens / 3)).slice(0, tokens * 4);
const turn = (tokens: number): OpenAiMessage[] => [
  { role: "user", content: words(tokens) },
  { role: "assistant", content: words(tokens) },
];
const step = (id: string, name: string, input: object, output: string): OpenAiMessage[] => [
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(input) } }],
  },
  { role: "tool", tool_call_id: id, content: output },
];
const many = (count: number, messages: (index: number) => OpenAiMessage[]): OpenAiMessage[] =>
  Array.from({ length: count }, (_, index) => messages(index)).flat();

test("short messages fill the window to nine tenths of the low-water mark and more, in whole turns", () => {
  for (const cause of ["automatic", "manual"] as const) {
    const messages = many(500, () => turn(40));
    const { cut, tokensAfter } = compacts(plan(messages, 8000, { cause }));
    const { lowWater } = limitsOf(POLICY, { size: 8000, reserve: 1000 }, 0);
    assert.ok(tokensAfter <= lowWater && tokensAfter >= 0.9 * lowWater, `${tokensAfter} of ${lowWater}`);
    assert.equal(messages[cut!.tail]!.role, "user");
  }
});

test("unless told, the low-water mark is lower in a large window, and only where nobody says what to keep", () => {
  const mark = (size: number, policy: Policy): number => limitsOf(policy, { size, reserve: 0 }, 0).lowWater / size;
  const untold = { ...POLICY, lowWater: null };
  const said = { ...untold, keep: { type: "messages", value: 6 } } as const;
  const sizes = [4000, 8000, 20_000, 32_000, 200_000];
  const shares = (policy: Policy) => sizes.map((size) => Number((mark(size, policy) / 0.85).toFixed(2)));
  assert.deepEqual(shares(untold), [0.6, 0.6, 0.57, 0.54, 0.54]);
  assert.deepEqual(new Set([...shares(said), ...shares(POLICY)]), new Set([0.6]));
});

test("inside one long turn the tail begins at a tool group", () => {
  const messages = [
    ...turn(20),
    ...many(120, (index) => step(`${index}`, "read", { path: `${index}.ts` }, words(200))),
  ];
  const { cut } = compacts(plan(messages, 16_000));
  assert.equal(messages[cut!.tail]!.role, "assistant");
  assert.ok(cut!.kept > 20, `${cut!.kept} kept`);
});

test("room is kept for quotes of what the model wrote, and only where it wrote something", () => {
  const talk = compacts(
    plan(
      many(300, () => turn(100)),
      32_000,
    ),
  );
  assert.equal(talk.cut!.quoteTokens, 0);
  const edit = (index: number) =>
    step(`${index}`, "edit", { path: `${index}.ts`, oldText: "a", newText: `${index} ${words(300)}` }, words(100));
  const work = compacts(plan(many(100, edit), 32_000));
  assert.ok(work.cut!.quoteTokens > 3000, String(work.cut!.quoteTokens));
  assert.ok(work.tokensAfter <= limitsOf(POLICY, { size: 32_000, reserve: 4000 }, 0).lowWater);
});

test("a person who asks for it gets a smaller view also below the mark", () => {
  const { cut } = compacts(
    plan(
      many(20, () => turn(40)),
      32_000,
      { cause: "manual" },
    ),
  );
  assert.ok(cut!.kept <= 6);
});

const WARM = { cache: "warm", prices: RELATIVE_PRICES } as const;
const writes = (steps: number): OpenAiMessage[] =>
  many(steps, (index) => step(`${index}`, "write", { path: `${index}.ts`, content: words(200) }, "ok"));
const reads = (steps: number): OpenAiMessage[] =>
  many(steps, (index) => step(`${index}`, "read", { path: `${index}.ts` }, words(200)));

test("prices hide the older part long before a large window is full, and leave a small one alone", () => {
  const early = compacts(plan(writes(400), 200_000, { prune: WARM }));
  assert.deepEqual([early.reason, early.rung], ["price", "hide"]);
  assert.ok(early.tokensAfter <= 36_000 && early.tokensAfter > 20_000, String(early.tokensAfter));
  assert.equal(plan(writes(150), 200_000, { prune: WARM }).kind, "none");
  assert.equal(plan(writes(80), 32_000, { prune: WARM }).kind, "none");
});

test("on a warm cache prices hide at the height that is cheapest for what each request adds", () => {
  const isDue = (turns: number): boolean =>
    plan(
      many(turns, () => turn(1000)),
      200_000,
      { prune: WARM },
    ).kind === "compact";
  const isCheapest = (turns: number): boolean => {
    const entries = many(turns, () => turn(1000)).map((message, index) => ({ seq: index + 1, message }));
    const { tokens } = plainPrompt(entries, openaiShape).count;
    return tokens >= 36_000 + cheapestHeight(RELATIVE_PRICES, { growth: tokens / turns, low: 36_000, summary: null });
  };
  const first = [...Array(60).keys()].findIndex(isCheapest);
  assert.ok(first > 0);
  assert.deepEqual([isDue(first - 1), isDue(first)], [false, true]);
});

test("what is mostly old results is shortened, what is mostly the model's own words is hidden", () => {
  const shortened = compacts(plan(reads(400), 200_000, { prune: WARM }));
  assert.deepEqual([shortened.reason, shortened.rung, shortened.cut], ["price", "prune", null]);
  const hidden = compacts(plan([...reads(40), ...writes(400)], 200_000, { prune: WARM }));
  assert.equal(hidden.rung, "hide");
});

test("on a cold cache the same is weighed: what leaves less to write is done", () => {
  const cold = { ...WARM, cache: "cold" } as const;
  assert.equal(compacts(plan(reads(400), 200_000, { prune: cold })).rung, "prune");
  assert.equal(compacts(plan([...reads(40), ...writes(400)], 200_000, { prune: cold })).rung, "hide");
});

test("prices hide nothing where reading is free, where pruning is off, and where keep was said", () => {
  const messages = writes(400);
  const free = { ...RELATIVE_PRICES, cacheRead: 0 };
  assert.equal(plan(messages, 200_000, { prune: { cache: "warm", prices: free } }).kind, "none");
  assert.equal(plan(messages, 200_000).kind, "none");
  const said = plan(messages, 200_000, {
    prune: { cache: "warm", prices: RELATIVE_PRICES },
    policy: { ...POLICY, keep: { type: "messages", value: 20 } },
  });
  assert.ok(said.kind === "none" || (said.kind === "compact" && said.rung === "prune"));
});

const COLD = { ...WARM, cache: "cold" } as const;
const asks = (tokens: number): OpenAiMessage => ({ role: "user", content: words(tokens) });
const parallel = (count: number, tokens: number): OpenAiMessage[] => {
  const ids = Array.from({ length: count }, (_, index) => `${index}`);
  const calls = ids.map((id) => ({ id, type: "function", function: { name: "read", arguments: "{}" } }) as const);
  const results = ids.map((id): OpenAiMessage => ({ role: "tool", tool_call_id: id, content: words(tokens) }));
  return [{ role: "assistant", content: null, tool_calls: calls }, ...results];
};

test("prices shorten nothing that the model hasn't seen: a long question, the results of the current step", () => {
  const history = many(20, () => turn(300));
  for (const prune of [WARM, COLD])
    for (const tokens of [40_000, 46_000, 56_000, 70_000, 83_000])
      for (const messages of [
        [asks(tokens)],
        [...turn(20), asks(tokens)],
        [asks(200), ...parallel(1, tokens)],
        [asks(200), ...parallel(4, tokens / 4)],
        [...history, asks(tokens - 12_000)],
        [...history, asks(200), ...parallel(4, (tokens - 12_000) / 4)],
      ]) {
        const planned = plan(messages, 100_000, { prune });
        const entries = planned.kind === "compact" ? planned.entries.map(({ target }) => target) : [];
        assert.deepEqual(entries, [], `${tokens} in ${messages.length} messages`);
      }
});

test("a request is shortened only where it doesn't fit the window by itself, and then keeps all that fits", () => {
  for (const size of [8000, 32_000, 100_000])
    for (const history of [[], many(20, () => turn(size / 80))]) {
      const limits = limitsOf(POLICY, { size, reserve: size / 8 }, 0);
      const fitting = plan([...history, asks(size * 0.8)], size);
      assert.deepEqual(fitting.kind === "compact" ? fitting.entries.length : 0, 0, `${size}`);
      for (const times of [0.9, 1.7, 20]) {
        const { tokensAfter, entries } = compacts(plan([...history, asks(size * times)], size));
        const shown = shortenedRequest(promptOf([...history, asks(size * times)]), entries)!;
        assert.ok(shown.first + shown.last >= 0.9 * limits.lowWater && shown.first > shown.last && shown.last > 0);
        const kept = entries.reduce((sum, { replacement }) => sum + replacement!.length / 4, 0);
        assert.ok(kept >= 0.9 * limits.lowWater && tokensAfter <= limits.fits, `${size} x ${times}: ${kept}`);
      }
    }
});

test("a trigger that the window doesn't need hides what is older and leaves the current request whole", () => {
  const policy = { ...POLICY, trigger: [{ type: "tokens", value: 4000 }] } as const;
  const hidden = compacts(plan([...many(20, () => turn(60)), asks(5000)], 32_000, { policy }));
  assert.deepEqual([hidden.cut?.kept, hidden.entries.length], [1, 0]);
  assert.equal(plan([asks(5000)], 32_000, { policy }).kind, "none");
});

test("a request that stands for its hidden calls keeps half of the low-water mark", () => {
  const collapsed = compacts(plan([asks(3000), ...parallel(300, 50)], 4000));
  assert.equal(collapsed.rung, "collapse");
  const request = collapsed.entries.find(({ target }) => target === 1)?.replacement ?? "";
  assert.ok(request.length / 4 >= 800, `${request.length / 4}`);
});

function plan(messages: readonly OpenAiMessage[], size: number, options: Partial<PlanOptions> = {}): Plan {
  return planCompaction(promptOf(messages), {
    window: { size, reserve: size / 8 },
    policy: POLICY,
    cause: "automatic",
    grown: null,
    prune: null,
    ...options,
  });
}

function promptOf(messages: readonly OpenAiMessage[]) {
  const entries = messages.map((message, index) => ({ seq: index + 1, message }));
  return plainPrompt(entries, openaiShape);
}

function compacts(planned: Plan): CompactPlan {
  assert.equal(planned.kind, "compact");
  return planned as CompactPlan;
}

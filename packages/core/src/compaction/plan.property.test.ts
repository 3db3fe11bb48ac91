import assert from "node:assert/strict";
import { test } from "node:test";
import { plainPrompt, randomConversation, render } from "@palimpsest/testing/internal/shapes";
import fc from "fast-check";
import type { MessageRecord } from "../log/record.ts";
import { NOTHING_LIVE } from "../log/structure.ts";
import { type LiveRecords, type ViewEntry, view } from "../log/view.ts";
import { type Dialect, shapeOf } from "../message/dialects.ts";
import type { Shape } from "../message/shape.ts";
import { charsPerToken, createMeter } from "../tokens/counter.ts";
import { type CompactPlan, type Plan, planCompaction } from "./plan.ts";
import { type Keep, type Policy, policyProblems } from "./policy.ts";

const threshold = fc.oneof(
  fc.record({ type: fc.constant("messages" as const), value: fc.integer({ min: 1, max: 60 }) }),
  fc.record({ type: fc.constant("tokens" as const), value: fc.integer({ min: 1, max: 8000 }) }),
  fc.record({ type: fc.constant("fraction" as const), value: fc.double({ min: 0.01, max: 1, noNaN: true }) }),
);
const scenario = fc.record({
  seed: fc.nat(),
  dialect: fc.constantFrom<Dialect>("openai", "anthropic", "ai-sdk"),
  messages: fc.integer({ min: 1, max: 60 }),
  longest: fc.constantFrom(200, 2000, 20_000),
  parallel: fc.constantFrom(1, 4, 40),
  wild: fc.boolean(),
  window: fc.constantFrom(1500, 4000, 16_000),
  fixed: fc.constantFrom(0, 300, 1200),
  trigger: fc.array(threshold, { minLength: 1, maxLength: 3 }),
  keep: fc.oneof(
    fc.constant(null),
    threshold,
    fc.array(threshold, { minLength: 1, maxLength: 3 }),
  ) as fc.Arbitrary<Keep | null>,
  cause: fc.constantFrom("automatic" as const, "manual" as const, "overflow" as const),
});

test("a plan is total, fits the window, and never parts a call from its result", () => {
  fc.assert(
    fc.property(scenario, (given) => {
      const thread = open(given.seed, given);
      const plan = planned(thread, given);
      if (plan.kind !== "compact") return;
      assert.ok(plan.tokensAfter <= given.window - reserveOf(given.window) || plan.rung === "prune", "fits");
      assert.ok(plan.tokensBefore === thread.total + given.fixed);
      if (plan.cut !== null) assertCut(thread, plan);
    }),
    { numRuns: 300 },
  );
});

test("the same view, window and policy give the same plan", () => {
  fc.assert(
    fc.property(scenario, (given) => {
      assert.deepEqual(planned(open(given.seed, given), given), planned(open(given.seed, given), given));
    }),
    { numRuns: 60 },
  );
});

test("a view that fits and meets no threshold is left alone", () => {
  fc.assert(
    fc.property(scenario, (given) => {
      const thread = open(given.seed, { ...given, longest: 100 });
      const plan = planned(thread, {
        ...given,
        window: 1_000_000,
        cause: "automatic",
        trigger: [{ type: "tokens", value: thread.total + given.fixed + 1 }],
      });
      assert.equal(plan.kind === "none" && plan.reason, "below-trigger");
    }),
    { numRuns: 60 },
  );
});

test("10,000 tiny messages and one of 5 MB are planned for like any others", () => {
  const shape = shapeOf("openai") as Shape<object>;
  const tiny = Array.from({ length: 10_000 }, (_, n) => shape.turn(n % 2 ? "assistant" : "user", `m${n}`));
  const huge = [shape.turn("user", "look"), shape.turn("assistant", "yes"), shape.turn("user", "x ".repeat(2_500_000))];
  for (const all of [tiny.slice(0, -1), huge]) {
    const plan = planned(openAll(all, shape), { ...PLAIN, window: 8000, cause: "automatic" });
    assert.ok(plan.kind === "compact" && plan.tokensAfter <= 7000, plan.kind);
  }
});

test("thresholds that can't be meant are named, each with its place", () => {
  for (const value of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    for (const type of ["fraction", "tokens", "messages"] as const) {
      const policy = { ...POLICY, trigger: [{ type, value }], keep: [{ type, value }] };
      const problems = policyProblems(policy);
      assert.ok(
        problems.some((problem) => problem.startsWith(`trigger ${type}`)),
        `trigger ${type} ${value}`,
      );
      assert.ok(
        problems.some((problem) => problem.startsWith(`keep ${type}`)),
        `keep ${type} ${value}`,
      );
    }
  }
  assert.match(policyProblems({ ...POLICY, trigger: [{ type: "fraction", value: 1.5 }] }).join(), /at most 1/);
  assert.deepEqual(policyProblems({ ...POLICY, trigger: [{ type: "messages", value: 50 }] }), []);
});

test("a policy's shares are checked at their bounds, a keep against each trigger of its kind", () => {
  const trigger = [{ type: "messages", value: 20 } as const];
  const problemsOf = (changes: Partial<Policy>): number =>
    policyProblems({ ...POLICY, trigger, keep: null, ...changes }).length;
  const table: [Partial<Policy>, number][] = [
    [{ minGain: 0 }, 0],
    [{ minGain: -0.01 }, 1],
    [{ minGain: 1 }, 1],
    [{ lowWater: 1 }, 0],
    [{ lowWater: 1.01 }, 1],
    [{ lowWater: 0 }, 1],
    [{ keep: { type: "messages", value: 19 } }, 0],
    [{ keep: { type: "messages", value: 20 } }, 1],
    [{ keep: { type: "tokens", value: 20 } }, 0],
    [{ keep: [{ type: "messages", value: 20 }] }, 0],
  ];
  for (const [changes, problems] of table) assert.equal(problemsOf(changes), problems, JSON.stringify(changes));
});

const POLICY = {
  lowWater: 0.6,
  minGain: 0.1,
  maxSummaryTokens: null,
  summaryFormat: "pair",
  keep: { type: "messages", value: 20 },
} as const;
const PLAIN = {
  fixed: 0,
  trigger: [{ type: "fraction", value: 0.85 } as const],
  keep: { type: "messages", value: 20 } as const,
};

type Given = Parameters<typeof planned>[1];

function planned(
  thread: ReturnType<typeof openAll>,
  given: {
    window: number;
    fixed: number;
    trigger: readonly { type: "messages" | "tokens" | "fraction"; value: number }[];
    keep: Keep | null;
    cause: "automatic" | "manual" | "overflow";
  },
): Plan {
  return planCompaction(plainPrompt(thread.view, thread.shape, given.fixed), {
    window: { size: given.window, reserve: reserveOf(given.window) },
    policy: { ...POLICY, trigger: given.trigger, keep: given.keep },
    cause: given.cause,
    grown: null,
    prune: null,
  });
}

function reserveOf(window: number): number {
  return Math.floor(window / 8);
}

function assertCut(thread: ReturnType<typeof openAll>, plan: CompactPlan): void {
  const { view, shape } = thread;
  const tail = view.slice(plan.cut!.tail);
  const first = tail.find(({ message }) => shape.role(message) !== "system");
  assert.ok(first === undefined || shape.role(first.message) !== "tool" || plan.rung === "collapse", "orphan");
  const open = new Set<string>();
  for (const { message } of view.slice(0, plan.cut!.tail)) {
    for (const id of shape.answers(message)) open.delete(id);
    for (const id of shape.calls(message)) open.add(id);
  }
  const recalled = new Set<string>();
  for (const { message } of tail) {
    for (const id of shape.answers(message)) assert.ok(recalled.has(id) || !open.has(id), `call ${id} was parted`);
    for (const id of shape.calls(message)) recalled.add(id);
  }
}

function open(
  seed: number,
  given: { dialect?: Dialect; messages?: number; longest?: number; parallel?: number; wild?: boolean } & Partial<Given>,
) {
  const shape = shapeOf(given.dialect ?? "openai") as Shape<object>;
  const { messages = 20, longest = 2000, parallel = 4, wild = false } = given;
  return openAll(render(randomConversation(seed, { messages, longest, parallel, wild }), shape), shape);
}

function openAll(all: readonly object[], shape: Shape<object>) {
  const measure = createMeter(shape, { counter: charsPerToken(4) });
  const record = (seq: number): MessageRecord => ({
    v: 1,
    at: "",
    runId: null,
    kind: "message",
    seq,
    id: `m${seq}`,
    dialect: shape.dialect as Dialect,
    origin: "import",
    body: "",
  });
  const live: LiveRecords = { ...NOTHING_LIVE, tail: all.map((_, index) => record(index + 1)) };
  const entries: readonly ViewEntry<object>[] = view(live, { shape, read: ({ seq }) => all[seq - 1]! });
  return { shape, measure, view: entries, total: measure.messages([...all]) };
}

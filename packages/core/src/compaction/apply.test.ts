import assert from "node:assert/strict";
import { test } from "node:test";
import { randomConversation, render } from "@palimpsest/testing/internal/shapes";
import fc from "fast-check";
import type { LogRecord, MessageRecord } from "../log/record.ts";
import { NO_RULES } from "../log/rules.ts";
import { liveAfter, NOTHING_LIVE } from "../log/structure.ts";
import { type LiveRecords, view } from "../log/view.ts";
import { type Dialect, rulesOf, type Shape, shapeOf } from "../message/internal.ts";
import { buildPrompt, type Prompt } from "../prompt/prompt.ts";
import { createSizer, fixedSize, sizesOf } from "../prompt/sizer.ts";
import { extractSummary } from "../summary/internal.ts";
import { NOWHERE } from "../summary/render-lines.ts";
import { atOnce, NO_QUOTES } from "../summary/work.ts";
import { createAccount } from "../tokens/account.ts";
import { charsPerToken, createMeter } from "../tokens/counter.ts";
import { type Applied, applyPlan, applyUntilFits, type CutSummary, coveredBy, type PlannedThread } from "./apply.ts";
import { behindSummary } from "./cut.ts";
import { type CompactPlan, type PlanOptions, planCompaction } from "./plan.ts";

const scenario = fc.record({
  seed: fc.nat(),
  dialect: fc.constantFrom<Dialect>("openai", "anthropic", "ai-sdk"),
  messages: fc.integer({ min: 4, max: 60 }),
  longest: fc.constantFrom(200, 2000, 20_000),
  wild: fc.boolean(),
  size: fc.constantFrom(2500, 6000, 16_000),
  factor: fc.constantFrom(0.8, 1, 1.4),
  format: fc.constantFrom("pair" as const, "user" as const, "system" as const),
  cause: fc.constantFrom("automatic" as const, "manual" as const, "overflow" as const),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

test("applying a plan gives the prompt that its records give when they are folded from the beginning", () => {
  fc.assert(
    fc.property(scenario, (given) => {
      const { prompt, thread, options, read, shape } = open(given);
      const plan = planCompaction(prompt, options);
      if (plan.kind !== "compact") return;
      const { records, prompt: after } = apply(prompt, plan, { thread, given });
      const live = records.reduce(
        (folded, record, index) => liveAfter(folded, stamped(record, thread.version + 1 + index)),
        thread.live,
      );
      const rebuilt = buildPrompt(view(live, { shape, read }), { sizer: prompt.sizer, key: prompt.key });
      assert.deepEqual(after.messages, rebuilt.messages);
      assert.deepEqual(after.sources, rebuilt.sources);
      assert.deepEqual(after.entries, rebuilt.entries);
      assert.equal(after.sentTokens, rebuilt.sentTokens);
      assert.equal(after.count.tokens, Math.ceil((prompt.fixed.tokens + rebuilt.sentTokens) * prompt.factor));
    }),
    { numRuns: 200 },
  );
});

test("the records of a plan are the rules if any were given, the compaction if it hides, and the prunes, in this order", () => {
  fc.assert(
    fc.property(scenario, fc.boolean(), (given, isGiven) => {
      const { prompt, thread, options } = open(given);
      const plan = planCompaction(prompt, options);
      if (plan.kind !== "compact") return;
      const rules = isGiven ? NO_RULES : null;
      const { records } = apply(prompt, plan, { thread: { ...thread, rules }, given });
      const [state, hides, prunes] = [isGiven, plan.cut !== null, plan.cut === null || plan.entries.length > 0];
      const kinds = [...(state ? ["state"] : []), ...(hides ? ["compaction"] : []), ...(prunes ? ["prune"] : [])];
      assert.deepEqual(
        records.map(({ kind }) => kind),
        kinds,
      );
      if (isGiven) assert.deepEqual(records[0], { kind: "state", patch: { rules: NO_RULES } });
    }),
    { numRuns: 60 },
  );
});

test("a compaction's record names what wrote its summary, and a collapse only where it has a digest", () => {
  fc.assert(
    fc.property(scenario, (given) => {
      const { prompt, thread, options } = open(given);
      const plan = planCompaction(prompt, options);
      if (plan.kind !== "compact" || plan.cut === null) return;
      const { records } = apply(prompt, plan, { thread, given });
      const compaction = records.find((record) => record.kind === "compaction")!;
      assert.equal(compaction.rung, plan.rung === "collapse" ? "collapse" : "extract");
      assert.equal(compaction.summary.digest !== null, plan.rung === "collapse");
    }),
    { numRuns: 60 },
  );
});

test("a plan that is applied until it fits is never over the window, whatever repairs add and however long a summary is", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, fc.constantFrom(0, 300), async (given, longer) => {
      const { prompt, thread, options } = open(given);
      const plan = planCompaction(prompt, options);
      if (plan.kind !== "compact") return;
      let tries = 0;
      const { plan: last, applied } = await applyUntilFits<object, Applied<object>>(plan, {
        window: options.window,
        replan: (known) => planCompaction(prompt, { ...options, ...known }),
        // The first summary may be longer than its plan allows.
        apply: async (planned) => apply(prompt, planned, { thread, given, longer: tries++ === 0 ? longer : 0 }),
      });
      const most = options.window.size - options.window.reserve;
      assert.ok(
        applied.prompt.count.tokens <= Math.max(most, last.maxTokens),
        `${applied.prompt.count.tokens} of ${most}`,
      );
    }),
    { numRuns: 200, examples: [[LONG_SUMMARY_IN_A_SMALL_WINDOW, 300]] },
  );
});

/** Its first summary is over by more than the result is: only a shorter one can fit, and one does. */
const LONG_SUMMARY_IN_A_SMALL_WINDOW: Scenario = {
  seed: 9,
  dialect: "openai",
  messages: 19,
  longest: 20_000,
  wild: false,
  size: 2500,
  factor: 1.4,
  format: "pair",
  cause: "automatic",
};

interface Applying {
  readonly thread: PlannedThread<object>;
  readonly given: Scenario;
  readonly longer?: number;
}

function apply(prompt: Prompt<object>, plan: CompactPlan, { thread, given, longer = 0 }: Applying): Applied<object> {
  return applyPlan(prompt, plan, summaryFor(prompt, plan, { thread, given, longer }), { thread, format: given.format });
}

function summaryFor(prompt: Prompt<object>, plan: CompactPlan, { thread, given, longer = 0 }: Applying) {
  const { cut } = plan;
  if (cut === null) return null;
  const { shape } = prompt.sizer;
  const sizes = sizesOf(prompt);
  const original = (record: MessageRecord): object => prompt.entries.find(({ seq }) => seq === record.seq)!.message;
  const covered = atOnce(coveredBy(thread.live, cut, { shape, original, state: null }));
  const lines = { todos: [], delegations: [], skills: [] };
  const input = { ...covered, pins: [], quotes: NO_QUOTES, lines, originals: NOWHERE };
  const room = Math.min(cut.summaryTokens, cut.hiddenTokens - behindSummary(given.format, shape, sizes) - 1);
  const maxTokens = room - sizes.message(shape.turn("user", ""));
  const state = extractSummary(input.prior, input.entries, shape, { maxTokens, count: sizes.text });
  const written = { rung: "extract" as const, state, calls: 0, digested: 0 };
  return { input, written, maxTokens: maxTokens + longer, archive: null } satisfies CutSummary<object>;
}

function open({ seed, dialect, messages, longest, wild, size, factor, format, cause }: Scenario) {
  const shape = shapeOf(dialect) as Shape<object>;
  const all = render(randomConversation(seed, { messages, longest, wild }), shape);
  const read = ({ seq }: MessageRecord): object => all[seq - 1]!;
  const records = all.map((_, index): MessageRecord => {
    const common = { v: 2, at: "", runId: null, kind: "message", origin: "import", body: "" } as const;
    return { ...common, seq: index + 1, id: `m${index + 1}`, dialect };
  });
  const live: LiveRecords = { ...NOTHING_LIVE, tail: records };
  const meter = createMeter(shape, { counter: charsPerToken(4) });
  const account = createAccount({ factors: { m: factor } });
  const sizer = createSizer({
    shape,
    rules: rulesOf(dialect),
    meter,
    fixed: fixedSize({ base: 200 }),
    account: { account, model: "m", prior: 1 },
  });
  const prompt = buildPrompt(view(live, { shape, read }), { sizer, key: "-/-" });
  const viewOf = (records: LiveRecords) => view(records, { shape, read });
  const thread: PlannedThread<object> = { live, version: all.length, viewOf };
  const options: PlanOptions = {
    window: { size, reserve: Math.floor(size / 8) },
    policy: {
      trigger: [{ type: "fraction", value: 0.7 }],
      keep: { type: "messages", value: 6 },
      lowWater: 0.6,
      minGain: 0.1,
      maxSummaryTokens: null,
      summaryFormat: format,
    },
    cause,
    grown: null,
    prune: null,
  };
  return { shape, read, prompt, thread, options };
}

function stamped(record: object, seq: number): Exclude<LogRecord, { kind: "undo" }> {
  return { v: 2, at: "", runId: null, ...record, seq } as Exclude<LogRecord, { kind: "undo" }>;
}

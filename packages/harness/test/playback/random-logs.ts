/**
 * Random conversations under random policies and windows, played through automatic compaction: the claim "never stuck,
 * never invalid" as a number. The same seed is the same log; the coverage says which rungs and sizes were met.
 */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Keep, Policy } from "@palimpsest/core/internal/compaction";
import { DIALECTS, rulesOf, type Shape, shapeOf } from "@palimpsest/core/internal/message";
import { charsPerToken, createMeter } from "@palimpsest/core/internal/tokens";
import { randomConversation, render } from "@palimpsest/testing/internal/shapes";
import { memoryDrafts } from "./memory-drafts.ts";
import { onEveryCore } from "./on-every-core.ts";
import { type PlaybackReport, playback } from "./playback.ts";
import { misbehavingWriter } from "./summarizers.ts";

export interface RandomLogsReport {
  readonly logs: number;
  /** Logs by how many messages they have. */
  readonly sizes: Readonly<Record<string, number>>;
  readonly requests: number;
  readonly invalid: number;
  readonly overWindow: number;
  readonly impossible: number;
  readonly hasty: number;
  readonly changed: number;
  readonly draftsUsed: number;
  /** Where reasoning is bound: thoughts sent again, and those sent behind another prompt than their own. */
  readonly thoughts: number;
  readonly misplaced: number;
  /** Logs in which each rung was taken at least once. */
  readonly rungs: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

/** `drafted`: a summarizer writes them ahead of the trigger; else they are extracted without one. */
export type Summaries = "extracted" | "drafted";

/** The logs of these seeds, `to` excluded. */
export interface LogRange {
  readonly from: number;
  readonly to: number;
  readonly summaries: Summaries;
  readonly reasoning?: "bound" | "free";
}

/** So many logs, on every core; `onProgress` hears of the logs played so far. */
export async function manyRandomLogs(
  logs: number,
  summaries: Summaries,
  onProgress?: (total: RandomLogsReport) => void,
): Promise<RandomLogsReport> {
  const ranges = Array.from({ length: Math.ceil(logs / RANGE) }, (_, index): LogRange => {
    return { from: 1 + index * RANGE, to: 1 + Math.min(logs, (index + 1) * RANGE), summaries };
  });
  let total = NO_LOGS;
  await onEveryCore({ module: import.meta.url, name: "randomLogs" }, ranges, (report: RandomLogsReport) => {
    total = sumOf(total, report);
    onProgress?.(total);
  });
  return total;
}

const RANGE = 100;
const COUNTS = {
  requests: 0,
  invalid: 0,
  overWindow: 0,
  impossible: 0,
  hasty: 0,
  changed: 0,
  draftsUsed: 0,
  thoughts: 0,
  misplaced: 0,
};
const NO_LOGS: RandomLogsReport = { logs: 0, sizes: {}, ...COUNTS, rungs: {}, faults: [] };

export async function randomLogs({ from, to, summaries, reasoning = "free" }: LogRange): Promise<RandomLogsReport> {
  const total = { ...COUNTS };
  const sizes: Record<string, number> = {};
  const rungs: Record<string, number> = {};
  const faults: string[] = [];
  for (let seed = from; seed < to; seed++) {
    const { report, messages } = await playRandomLog(seed, { summaries, reasoning });
    total.requests += report.requests;
    total.invalid += report.violations;
    total.overWindow += report.overWindow;
    total.impossible += report.impossible;
    total.hasty += report.hasty;
    total.changed += report.replayIdentical ? 0 : 1;
    total.draftsUsed += report.draftsUsed;
    total.thoughts += report.thoughts;
    total.misplaced += report.misplaced;
    const size = messages > 200 ? "over 200" : messages > 50 ? "51 to 200" : messages > 10 ? "11 to 50" : "1 to 10";
    sizes[size] = (sizes[size] ?? 0) + 1;
    for (const rung of Object.keys(report.rungs)) rungs[rung] = (rungs[rung] ?? 0) + 1;
    if (report.firstFault !== null && faults.length < 10) faults.push(`log ${seed}: ${report.firstFault}`);
  }
  return { logs: to - from, sizes, ...total, rungs, faults };
}

function sumOf(a: RandomLogsReport, b: RandomLogsReport): RandomLogsReport {
  const counts = Object.keys(COUNTS) as readonly (keyof typeof COUNTS)[];
  return {
    logs: a.logs + b.logs,
    sizes: sumBy(a.sizes, b.sizes),
    ...(Object.fromEntries(counts.map((name) => [name, a[name] + b[name]])) as typeof COUNTS),
    rungs: sumBy(a.rungs, b.rungs),
    faults: [...a.faults, ...b.faults].slice(0, 10),
  };
}

function sumBy(a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>): Record<string, number> {
  const names = Object.keys({ ...a, ...b });
  return Object.fromEntries(names.map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]));
}

export function assertNoFault(t: TestContext, report: RandomLogsReport): void {
  t.diagnostic(JSON.stringify(report));
  const { invalid, overWindow, changed, hasty, faults } = report;
  const none = { invalid: 0, overWindow: 0, changed: 0, hasty: 0 };
  assert.deepEqual({ invalid, overWindow, changed, hasty }, none, faults.join("\n"));
}

const KEEPS: readonly (Keep | null)[] = [
  null,
  { type: "messages", value: 20 },
  [
    { type: "messages", value: 6 },
    { type: "fraction", value: 0.25 },
  ],
  { type: "tokens", value: 1500 },
  { type: "fraction", value: 0.3 },
  { type: "messages", value: 4 },
];
const SHAPES = DIALECTS.map((dialect) => ({ shape: shapeOf(dialect) as Shape<object>, rules: rulesOf(dialect) }));
const FORMATS: readonly Policy["summaryFormat"][] = ["pair", "pair", "user", "system"];

/** Independent choices from one seed: each divides out what the one before has used. */
async function playRandomLog(
  seed: number,
  { summaries, reasoning }: { readonly summaries: Summaries; readonly reasoning: "bound" | "free" },
): Promise<{ report: PlaybackReport; messages: number }> {
  let left = Math.abs(Math.imul(seed, 0x9e3779b1)) >>> 1;
  const pick = <T>(options: readonly T[]): T => {
    const chosen = options[left % options.length]!;
    left = Math.floor(left / options.length);
    return chosen;
  };
  const { shape, rules } = SHAPES[seed % SHAPES.length]!;
  const size = pick([4000, 4000, 8000, 16_000]);
  const script = randomConversation(seed, {
    messages: seed % 5 === 0 ? 260 : pick([6, 12, 24, 40]),
    longest: pick([300, 2000, 6000, 20_000]),
    parallel: pick([4, 4, 4, 4, 4, 4, 300]),
    wild: pick([false, false, false, false, true]),
    dangling: pick([0, 0, 0, 0.1]),
    system: 0.3,
    signer: rules.signer ?? "anthropic",
  });
  const messages = render(script, shape);
  const report = await playback({
    messages,
    shape,
    rules,
    reasoning,
    meter: createMeter(shape, { counter: charsPerToken(4) }),
    window: { size, reserve: size / 8 },
    policy: {
      trigger: [pick([{ type: "fraction", value: 0.85 } as const, { type: "messages", value: 50 } as const])],
      keep: pick(KEEPS),
      lowWater: 0.6,
      minGain: 0.1,
      maxSummaryTokens: null,
      summaryFormat: pick(FORMATS),
    },
    ...(summaries === "drafted" ? drafted(size) : { writer: null }),
    prune: pick([
      null,
      { cache: "warm" },
      { cache: "cold", policy: { from: 2000, protectTokens: 1000, minGainTokens: 500 } },
    ]),
  });
  return { report, messages: messages.length };
}

function drafted(size: number) {
  return { writer: misbehavingWriter("extractive", size), background: { table: memoryDrafts() } };
}

/**
 * Random conversations under random policies and windows, played through automatic compaction: the claim "never stuck,
 * never invalid" as a number. The same seed is the same log; the coverage says which rungs and sizes were met.
 */
import type { Keep, Policy } from "@palimpsest/core/compaction";
import { anthropicRules, googleRules, openaiRules, type Shape, shapeOf } from "@palimpsest/core/message";
import { randomConversation, render } from "@palimpsest/core/testing";
import { charsPerToken, createMeter } from "@palimpsest/core/tokens";
import type { DraftTable } from "../compaction/draft-table.ts";
import { type PlaybackReport, playback } from "./playback.ts";
import { misbehavingWriter } from "./summarizers.ts";

export interface RandomLogsReport {
  readonly logs: number;
  readonly over200Messages: number;
  readonly requests: number;
  readonly invalid: number;
  readonly overWindow: number;
  readonly impossible: number;
  readonly hasty: number;
  readonly changed: number;
  readonly draftsUsed: number;
  /** Logs in which each rung was taken at least once. */
  readonly rungs: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

/** `drafted`: a summarizer writes them ahead of the trigger; else they are extracted without one. */
export type Summaries = "extracted" | "drafted";

export async function randomLogs(
  from: number,
  to: number,
  summaries: Summaries = "extracted",
): Promise<RandomLogsReport> {
  const counts = { requests: 0, invalid: 0, overWindow: 0, impossible: 0, hasty: 0, changed: 0, draftsUsed: 0 };
  const total = { ...counts, over200Messages: 0 };
  const rungs: Record<string, number> = {};
  const faults: string[] = [];
  for (let seed = from; seed < to; seed++) {
    const { report, messages } = await playRandomLog(seed, summaries);
    total.requests += report.requests;
    total.invalid += report.violations;
    total.overWindow += report.overWindow;
    total.impossible += report.impossible;
    total.hasty += report.hasty;
    total.changed += report.replayIdentical ? 0 : 1;
    total.draftsUsed += report.draftsUsed;
    total.over200Messages += messages > 200 ? 1 : 0;
    for (const rung of Object.keys(report.rungs)) rungs[rung] = (rungs[rung] ?? 0) + 1;
    if (report.firstFault !== null && faults.length < 10) faults.push(`log ${seed}: ${report.firstFault}`);
  }
  return { logs: to - from, ...total, rungs, faults };
}

const KEEPS: readonly Keep[] = [
  { type: "messages", value: 20 },
  [
    { type: "messages", value: 6 },
    { type: "fraction", value: 0.25 },
  ],
  { type: "tokens", value: 1500 },
  { type: "fraction", value: 0.3 },
  { type: "messages", value: 4 },
];
const SHAPES = [
  { shape: shapeOf("openai") as Shape<object>, rules: openaiRules },
  { shape: shapeOf("anthropic") as Shape<object>, rules: anthropicRules },
  { shape: shapeOf("ai-sdk") as Shape<object>, rules: googleRules },
];
const FORMATS: readonly Policy["summaryFormat"][] = ["pair", "pair", "user", "system"];

/** Independent choices from one seed: each divides out what the one before has used. */
async function playRandomLog(
  seed: number,
  summaries: Summaries,
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
  });
  const messages = render(script, shape);
  const report = await playback({
    messages,
    shape,
    rules,
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

function memoryDrafts(): DraftTable {
  const kept = new Map<string, string>();
  return {
    get: async (key) => kept.get(key) ?? null,
    put: async (key, value) => void kept.set(key, value),
    drop: async (key) => void (key === undefined ? kept.clear() : kept.delete(key)),
  };
}

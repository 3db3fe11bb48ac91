/**
 * Plays one long conversation with tools under every example configuration of the seeds, in windows of 8k to 200k, with
 * and without drafts: the largest request against its trigger and the tail against its keep, each in its own unit.
 * `npm run bench -- settings [--window N] [--turns N] [--json]`.
 */

import { isCeilings, type Keep, type Policy, type Threshold } from "@palimpsest/core/internal/compaction";
import { type OpenAiMessage, openaiRules, type Shape, shapeOf } from "@palimpsest/core/internal/message";
import { answerReserve, charsPerToken, createMeter } from "@palimpsest/core/internal/tokens";
import { summarizationFromOptions } from "../packages/harness/src/compaction/summarization.ts";
import { brokenSettings } from "../packages/harness/test/playback/settings-judge.ts";
import { inUnit, playSettings, type SettingsReport } from "../packages/harness/test/playback/settings-playback.ts";
import { misbehavingWriter } from "../packages/harness/test/playback/summarizers.ts";
import { type Bench, BenchInputError } from "./bench.ts";

const WINDOWS = [8_000, 32_000, 128_000, 200_000];
/** What the agent's own prompt and tools take. */
const FIXED = 2_570;
/** So many compactions show whether settings hold, but a conversation ends. */
const COMPACTIONS = 12;
const TURNS = 2_000;

const fraction = (value: number): Threshold => ({ type: "fraction", value });
const tokens = (value: number): Threshold => ({ type: "tokens", value });
const messages = (value: number): Threshold => ({ type: "messages", value });

const CONFIGURATIONS: readonly {
  readonly name: string;
  readonly trigger: readonly Threshold[];
  readonly keep: Keep;
}[] = [
  { name: "000 opening", trigger: [fraction(0.8), messages(50)], keep: messages(20) },
  { name: "000 tokens", trigger: [tokens(4000)], keep: tokens(3000) },
  { name: "000 fraction", trigger: [fraction(0.8)], keep: fraction(0.3) },
  { name: "000 8k strategy", trigger: [fraction(0.6)], keep: fraction(0.4) },
  { name: "000 long sessions", trigger: [fraction(0.7), messages(100)], keep: messages(20) },
  { name: "000 short sessions", trigger: [messages(30)], keep: messages(15) },
  { name: "000 keep more", trigger: [fraction(0.8)], keep: fraction(0.5) },
  { name: "000 keep less", trigger: [fraction(0.8)], keep: messages(10) },
  { name: "001 minimal", trigger: [tokens(4000)], keep: messages(20) },
  { name: "001 balanced", trigger: [tokens(4000), messages(50)], keep: messages(25) },
  { name: "001 production", trigger: [tokens(6000), messages(75)], keep: messages(25) },
  { name: "001 tokens", trigger: [tokens(6000)], keep: tokens(3000) },
  { name: "001 multi-model", trigger: [fraction(0.7)], keep: fraction(0.3) },
  { name: "001 conservative", trigger: [tokens(8000)], keep: messages(40) },
  { name: "003 default", trigger: [fraction(0.85)], keep: [messages(6), fraction(0.25)] },
  { name: "003 custom", trigger: [fraction(0.75)], keep: [messages(10), fraction(0.25)] },
];

const bench: Bench = async (_, options) => {
  const windows = options["window"] === undefined ? WINDOWS : [Number(options["window"])];
  const turns = Number(options["turns"] ?? TURNS);
  if (!windows.every((size) => size >= 8_000)) throw new BenchInputError("--window: give at least 8000 tokens.");
  if (!(turns >= 10)) throw new BenchInputError("--turns: give at least 10.");
  const rows: object[] = [];
  const broken: string[] = [];
  for (const size of windows) {
    for (const { name, trigger, keep } of CONFIGURATIONS) {
      for (const drafts of ["ahead", "none"] as const) {
        const policy = { ...summarizationFromOptions().policy, trigger, keep };
        const window = { size, reserve: answerReserve(size, null) };
        const report = await play(conversation(turns), policy, window, drafts);
        const faults = brokenSettings(report, { policy, window });
        broken.push(...faults.map((fault) => `${size} ${name}, drafts ${drafts}: ${fault}`));
        rows.push({ window: size, configuration: name, drafts, ...summed(report, policy, window) });
      }
    }
  }
  return { ok: broken.length === 0, fixed: FIXED, broken: broken.slice(0, 20), rows };
};

export default bench;

function play(
  objects: readonly object[],
  policy: Policy,
  window: { size: number; reserve: number },
  drafts: "ahead" | "none",
) {
  const shape = shapeOf("openai") as Shape<object>;
  return playSettings({
    messages: objects,
    shape,
    rules: openaiRules,
    window,
    fixed: FIXED,
    policy,
    drafts,
    meter: createMeter(shape, { counter: charsPerToken(4) }),
    writer: misbehavingWriter("extractive", window.size),
    compactions: COMPACTIONS,
  });
}

/** One line of the table: amounts in the unit of what they stand against. */
function summed(
  { requests, compactions, ...counts }: SettingsReport,
  policy: Policy,
  window: { size: number; reserve: number },
) {
  const keeps = isCeilings(policy.keep) ? policy.keep : policy.keep === null ? [] : [policy.keep];
  const largest = policy.trigger.map((threshold) =>
    round(Math.max(...requests.map((each) => inUnit(each, threshold, window, "trigger")))),
  );
  const tails = (pick: (...values: number[]) => number): string =>
    compactions.length === 0
      ? "-"
      : keeps.map((keep) => round(pick(...compactions.map(({ tail }) => inUnit(tail, keep, window))))).join(" | ");
  return {
    trigger: policy.trigger.map(written).join(" | "),
    largest: largest.join(" | "),
    keep: keeps.map(written).join(" & "),
    leastTail: tails(Math.min),
    mostTail: tails(Math.max),
    compactions: compactions.length,
    gaveWay: compactions.filter(({ outcome }) => outcome.shortfall?.startsWith("there is no room")).length,
    ...counts,
  };
}

function written({ type, value }: Threshold): string {
  return `${type} ${value}`;
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** A user's turns, each with none to three tool calls whose results are short or long, and an answer. */
function conversation(turns: number): readonly OpenAiMessage[] {
  return Array.from({ length: turns }, (_, turn) => {
    const calls = turn % 4;
    const steps = Array.from({ length: calls }, (_, call): OpenAiMessage[] => {
      const id = `call_${turn}_${call}`;
      const path = `src/module-${(turn * 7 + call) % 40}.ts`;
      const input = { name: "read_file", arguments: JSON.stringify({ path }) };
      return [
        { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: input }] },
        { role: "tool", tool_call_id: id, content: text(`${path}:`, 40 + ((turn * 13 + call * 5) % 9) * 60) },
      ];
    }).flat();
    const question = text(`Question ${turn}:`, 20 + (turn % 5) * 15);
    const answer = text(`Answer ${turn}:`, 60 + (turn % 7) * 25);
    return [{ role: "user" as const, content: question }, ...steps, { role: "assistant" as const, content: answer }];
  }).flat();
}

function text(start: string, size: number): string {
  return `${start} ${"the parser reads tokens one by one and keeps a stack of what is open; ".repeat(Math.ceil(size / 17))}`.slice(
    0,
    size * 4,
  );
}

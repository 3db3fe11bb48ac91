/**
 * The policies the lab plays side by side: ours, plain ones, and the published defaults of others, re-implemented from
 * their documented rules and labelled so. They share one stand-in for a summarizing model, so that what differs is the rule.
 */
import { ours } from "./ours.ts";
import { batchPrune, keepLast, maskEachStep, neverPrune, summarizeAt } from "./policies.ts";
import type { Policy } from "./policy.ts";
import { summarizeOlder } from "./summarize.ts";

export function builtInPolicies(window: number): readonly Policy[] {
  return [
    ours(window),
    { ...neverPrune, name: "none" },
    keepLast(20),
    { ...maskEachStep(10), name: "mask each step" },
    { ...batchPrune(10_000, 30_000, 60_000), name: "batch prune" },
    { ...summarizeAt(window, 0.85, 6), name: "summarize at 85 %" },
    byRules("LangChain (documented example)", window, { tokens: 4000, keep: 20 }),
    byRules("DeepAgents (documented defaults)", window, { share: 0.85, keepShare: 0.1 }),
    byRules("DeerFlow (documented example)", window, { share: 0.8, messages: 50, keep: 20 }),
    opencode(window),
  ];
}

interface Rules {
  readonly tokens?: number;
  readonly share?: number;
  readonly messages?: number;
  readonly keep?: number;
  /** Keep this share of the window instead of a number of messages. */
  readonly keepShare?: number;
}

function byRules(name: string, window: number, rules: Rules): Policy {
  const trigger = rules.tokens ?? window * (rules.share ?? 1);
  return {
    name,
    prepare(view, moment) {
      const byCount = rules.messages !== undefined && view.length >= rules.messages;
      const keep =
        rules.keep ??
        tailWithin(
          view.map(({ message }) => moment.meter.message(message)),
          window * (rules.keepShare ?? 0.1),
        );
      return summarizeOlder(view, { ...moment, trigger: byCount ? 0 : trigger, keep });
    },
  };
}

/** Masks old results in batches, and summarizes everything when the window less the answer is full. */
function opencode(window: number): Policy {
  const prune = batchPrune(40_000, 20_000, 0);
  return {
    name: "opencode (documented values)",
    prepare(view, moment) {
      const pruned = prune.prepare(view, moment);
      const full = summarizeOlder(pruned.view, { ...moment, trigger: window - Math.min(32_000, window / 4), keep: 2 });
      return { view: full.view, calls: [...pruned.calls, ...full.calls] };
    },
  };
}

/** How many of the newest messages stay within so many tokens; one at least. */
function tailWithin(sizes: readonly number[], tokens: number): number {
  let sum = 0;
  let kept = 0;
  for (const size of sizes.toReversed()) {
    sum += size;
    if (sum > tokens) break;
    kept++;
  }
  return Math.max(1, kept);
}

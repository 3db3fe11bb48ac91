/**
 * The lowest rung: shorten old tool traffic instead of hiding anything. Taken below the trigger when the prices say that
 * it pays, and at the trigger when it alone reaches the low-water mark. What keep promises is not touched.
 */
import type { CutSizes } from "../cut-sizes.ts";
import type { Plan, PlanInput } from "../plan.ts";
import type { Limits } from "../policy.ts";
import { keepFrom } from "../policy.ts";
import { decidePrune, PRUNE_DEFAULTS, type PruneOptions } from "./prune.ts";

export type PruneRung = Pick<PruneOptions, "policy" | "prices" | "cache" | "marks">;

/** Null: pruning is not enough, so the other plan is used. */
export function planPruning<M>(input: PlanInput<M>, sizes: CutSizes, limits: Limits, instead: Plan): Plan | null {
  const { prune, prompt, originals } = input;
  if (prune === null || input.cause === "manual" || instead.kind === "impossible") return null;
  const must = instead.kind === "compact";
  // Shortening leaves as many messages as there were.
  if (must && limits.messages !== null && sizes.messages >= limits.messages.trigger) return null;
  const tailTokens = keptTokens(input, sizes);
  const protect = prune.policy?.protectTokens ?? PRUNE_DEFAULTS.protectTokens;
  const decision = decidePrune(prompt, {
    ...prune,
    policy: { ...prune.policy, protectTokens: must ? tailTokens : Math.max(protect, tailTokens) },
    originals,
    when: must ? "must" : "pays",
    atLeast: sizes.total - limits.lowWater,
  });
  if (decision.kind === "none") return null;
  const tokensAfter = sizes.total - (decision.tokensBefore - decision.tokensAfter);
  if (must && tokensAfter > limits.lowWater) return null;
  return {
    kind: "compact",
    rung: "prune",
    cut: null,
    entries: decision.entries,
    reason: must ? instead.reason : "price",
    tokensBefore: sizes.total,
    tokensAfter,
    maxTokens: limits.fits,
    goal: "low-water",
  };
}

function keptTokens<M>(input: PlanInput<M>, sizes: CutSizes): number {
  const messages = sizes.entries.slice(sizes.first);
  const from = keepFrom(messages, input.policy.keep, input.window);
  return messages.slice(from).reduce((sum, size) => sum + size, 0);
}

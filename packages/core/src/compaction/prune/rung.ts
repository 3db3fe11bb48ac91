/**
 * The lowest rung: shorten old tool traffic instead of hiding anything. Taken below the trigger when the prices say that
 * it pays, and at the trigger when it alone reaches the low-water mark. What keep promises is not touched.
 */
import { keepFrom } from "../keep.ts";
import type { Plan, PlanInput } from "../plan.ts";
import type { Limits } from "../policy.ts";
import type { Weigher } from "../tail.ts";
import { decidePrune, PRUNE_DEFAULTS, type PruneOptions } from "./prune.ts";

export type PruneRung = Pick<PruneOptions<unknown>, "policy" | "prices" | "cache">;

/** Null: this rung doesn't do, the other plan stands. */
export function planPruning<M>(input: PlanInput<M>, weigher: Weigher, limits: Limits, instead: Plan): Plan | null {
  const { prune, view, shape, measure, originals } = input;
  if (prune === null || input.cause === "manual" || instead.kind === "impossible") return null;
  const must = instead.kind === "compact";
  // Shortening leaves as many messages as there were.
  if (must && limits.messages !== null && weigher.messages >= limits.messages.trigger) return null;
  const kept = keptTokens(input, weigher);
  const protect = prune.policy?.protectTokens ?? PRUNE_DEFAULTS.protectTokens;
  const decision = decidePrune(view, {
    ...prune,
    policy: { ...prune.policy, protectTokens: must ? kept : Math.max(protect, kept) },
    shape,
    measure,
    originals,
    when: must ? "must" : "pays",
    atLeast: weigher.total - limits.goal,
  });
  if (decision.kind === "none") return null;
  const tokensAfter = weigher.total - (decision.tokensBefore - decision.tokensAfter);
  if (must && tokensAfter > limits.goal) return null;
  return {
    kind: "compact",
    rung: "prune",
    cut: null,
    entries: decision.entries,
    reason: must ? instead.reason : "price",
    tokensBefore: weigher.total,
    tokensAfter,
    most: limits.fits,
    reaches: "low-water",
  };
}

function keptTokens<M>(input: PlanInput<M>, weigher: Weigher): number {
  const sizes = weigher.sizes.slice(weigher.first);
  const from = keepFrom(sizes, input.policy.keep, input.window);
  return sizes.slice(from).reduce((sum, size) => sum + size, 0);
}

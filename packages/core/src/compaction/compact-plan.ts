/** A choice of a cut as the plan that carries it out. */
import type { Choice } from "./choice.ts";
import { makeCut } from "./cut.ts";
import type { CutSizes } from "./cut-sizes.ts";
import type { CompactPlan, Plan, PlanInput } from "./plan.ts";

export function compactPlan<M>(
  input: PlanInput<M>,
  sizes: CutSizes,
  choice: Choice,
  reason: CompactPlan["reason"],
): Plan {
  const { cut, summary, quotes, entries, tokens } = choice;
  const hides = cut.index > sizes.first;
  if (!hides && entries.length === 0) return { kind: "none", reason: "nothing-to-cut", tokens: sizes.total };
  return {
    kind: "compact",
    rung: hides ? "hide" : "clamp",
    cut: hides ? makeCut(input.prompt, sizes, cut, { summary, quotes, digest: null }) : null,
    entries,
    reason,
    tokensBefore: sizes.total,
    tokensAfter: tokens,
    maxTokens: choice.maxTokens,
    goal: choice.goal,
  };
}

/**
 * What prices ask for while the window still has room. Where nobody said what to keep, the older part is hidden or old tool
 * results are shortened, whichever makes the coming requests cheaper; where keep was said, hiding waits for the trigger.
 * What keep promises is not touched.
 */
import { RELATIVE_PRICES } from "../../pricing/prices.ts";
import { cheapestHeight, costPerRequest } from "../../pricing/sawtooth.ts";
import { chooseCut } from "../choice.ts";
import { compactPlan } from "../compact-plan.ts";
import { boundaries } from "../cut.ts";
import type { CutSizes } from "../cut-sizes.ts";
import type { CompactPlan, Plan, PlanInput } from "../plan.ts";
import { keepFrom, type Limits, withLowWater } from "../policy.ts";
import { decidePrune, PRUNE_DEFAULTS, type PruneOptions } from "./prune.ts";

export interface PruneRung extends Pick<PruneOptions, "policy" | "prices" | "cache" | "marks"> {
  /** Who would write a summary: a model's costs a call. `rules` unless told. */
  readonly summaries?: "model" | "rules";
}

/** Null: prices ask for nothing. */
export function planByPrice<M>(input: PlanInput<M>, sizes: CutSizes, limits: Limits): Plan | null {
  if (input.prune === null || input.cause === "manual") return null;
  const shortening = planShortening(input, sizes, limits);
  if (input.policy.keep !== null) return shortening?.plan ?? null;
  const tooth = toothOf(input, sizes, limits);
  const hiding = planHidingEarly(input, { sizes, limits, tooth });
  return cheaper({ hiding, shortening, tooth, before: sizes.total, prune: input.prune });
}

/** What a conversation is compacted to where only prices ask for it: more is read again and again for less and less. */
const EARLY_TOKENS = 36_000;

/** How the prompt goes up and down where hiding keeps it short. */
interface Tooth {
  /** Tokens that each request adds, as far as the view shows it. */
  readonly growth: number;
  readonly low: number;
  /** Where hiding pays on a warm cache, or the trigger asks for it. */
  readonly high: number;
  /** Tokens of a model's summary; null: rules write it. */
  readonly summary: number | null;
}

function toothOf<M>({ prompt, prune }: PlanInput<M>, { total, outside }: CutSizes, limits: Limits): Tooth {
  const requests = prompt.entries.filter(({ source, role }) => source === "message" && role === "assistant").length;
  const growth = (total - outside) / Math.max(1, requests);
  const low = Math.min(limits.lowWater, outside + EARLY_TOKENS);
  const summary = prune!.summaries === "model" ? limits.maxSummary : null;
  const height = cheapestHeight(prune!.prices ?? RELATIVE_PRICES, { growth, low, summary });
  return { growth, low, high: Math.min(limits.trigger, low + height), summary };
}

interface Early {
  readonly sizes: CutSizes;
  readonly limits: Limits;
  readonly tooth: Tooth;
}

/** Null: it doesn't pay yet. */
function planHidingEarly<M>(input: PlanInput<M>, { sizes, limits, tooth }: Early): CompactPlan | null {
  const { prompt, policy, window, prune, grown } = input;
  const { total, outside } = sizes;
  const { cacheRead } = prune!.prices ?? RELATIVE_PRICES;
  if (total < (prune!.policy?.from ?? PRUNE_DEFAULTS.from) || total < tooth.low + limits.minGain) return null;
  if (grown !== null && grown.tokens < limits.minGain) return null;
  if (!(cacheRead > 0) || (prune!.cache === "warm" && total < tooth.high)) return null;
  const cuts = boundaries(prompt.entries, prompt.sizer.shape);
  const early = withLowWater(limits, outside, tooth.low);
  const choice = chooseCut({ sizes, limits: early, cuts, policy, window, least: input.summaryTokens ?? 0 });
  if (choice === null || choice.tokens > total - limits.minGain) return null;
  const plan = compactPlan(input, sizes, choice, "price");
  return plan.kind === "compact" ? plan : null;
}

interface Shortening {
  readonly plan: CompactPlan;
  /** Tokens behind the first change that the cache doesn't hold any more. */
  readonly rewritten: number;
}

interface Rungs {
  readonly hiding: CompactPlan | null;
  readonly shortening: Shortening | null;
  readonly tooth: Tooth;
  /** Tokens of the prompt as it is. */
  readonly before: number;
  readonly prune: PruneRung;
}

/**
 * By what a request costs until a shortened prompt is as high again as hiding would let it grow. Where hiding isn't due yet,
 * shortening is measured against waiting for it.
 */
function cheaper({ hiding, shortening, tooth, before, prune }: Rungs): Plan | null {
  if (shortening === null) return hiding;
  const prices = prune.prices ?? RELATIVE_PRICES;
  const { growth, high, summary } = tooth;
  const requests = (from: number): number => Math.max(1, (high - from) / growth);
  const cost = (from: number, rewrite: { tokens: number; summary: number | null }): number =>
    costPerRequest(prices, { from, to: high, requests: requests(from), rewrite });
  const written = (tokens: number, all: number): number => (prune.cache === "cold" ? all : tokens);
  const { plan, rewritten } = shortening;
  const shortened = cost(plan.tokensAfter, { tokens: written(rewritten, plan.tokensAfter), summary: null });
  const low = hiding?.tokensAfter ?? tooth.low;
  const hidden = cost(low, { tokens: low, summary });
  if (hiding !== null) return shortened <= hidden ? plan : hiding;
  const waiting = cost(before, { tokens: written(0, before), summary: null });
  const share = Math.min(1, requests(before) / requests(plan.tokensAfter));
  return shortened <= share * waiting + (1 - share) * hidden ? plan : null;
}

function planShortening<M>(input: PlanInput<M>, sizes: CutSizes, limits: Limits): Shortening | null {
  const { prompt, originals } = input;
  const prune = input.prune!;
  const protect = prune.policy?.protectTokens ?? PRUNE_DEFAULTS.protectTokens;
  const decision = decidePrune(prompt, {
    ...prune,
    policy: { ...prune.policy, protectTokens: Math.max(protect, keptTokens(input, sizes)) },
    originals,
  });
  if (decision.kind === "none") return null;
  const plan: CompactPlan = {
    kind: "compact",
    rung: "prune",
    cut: null,
    entries: decision.entries,
    reason: "price",
    tokensBefore: sizes.total,
    tokensAfter: sizes.total - (decision.tokensBefore - decision.tokensAfter),
    maxTokens: limits.fits,
    goal: "low-water",
  };
  return { plan, rewritten: decision.rewritten };
}

function keptTokens<M>({ policy, window }: PlanInput<M>, sizes: CutSizes): number {
  if (policy.keep === null) return 0;
  const messages = sizes.entries.slice(sizes.first);
  return messages.slice(keepFrom(messages, policy.keep, window)).reduce((sum, size) => sum + size, 0);
}

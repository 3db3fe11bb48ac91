/**
 * The pruning rung: decides, without a model, whether to take old outputs, inputs and images out of the view now, and
 * what stands in their place. Batched, because every change breaks the provider's prompt cache behind it: a pass waits
 * until the cache reads wasted since the last one outweigh the rewrite, or until the cache is cold [F31].
 * Pure: the same view gives the same entries, and a pruned view gives none of them again.
 */
import { applyPrune } from "../log/apply-prune.ts";
import type { PruneEntry } from "../log/record.ts";
import type { Part } from "../message/shape.ts";
import { cheapestHeight, costPerRequest, type Prices, RELATIVE_PRICES } from "../pricing/prices.ts";
import type { Prompt } from "../prompt/prompt.ts";
import { sizesOf } from "../prompt/sizer.ts";
import { partText } from "../summary/gather.ts";
import { NOWHERE, type Originals } from "../summary/render-lines.ts";
import { countNames } from "../text/names.ts";
import { chooseCut, compactPlan } from "./choice.ts";
import { boundaries, type CutSizes } from "./cut.ts";
import type { CompactPlan, Plan, PlanInput } from "./plan.ts";
import { keepFrom, type Limits, withLowWater } from "./policy.ts";
import {
  type BatchPolicy,
  bestBatch,
  isPruned,
  type PricedPart,
  type PruneCandidate,
  pruneCandidates,
} from "./prune-candidates.ts";
import { replacementFor } from "./prune-replacement.ts";

interface PrunePolicy extends BatchPolicy {
  /** A smaller view is left alone. */
  readonly from: number;
  /** The newest part of the view that stays as it is. */
  readonly protectTokens: number;
  /** A pass frees at least this much, or it doesn't happen. */
  readonly minGainTokens: number;
  readonly minPartTokens: number;
  /** Names left behind may cost this share of what they stand for. */
  readonly nameShare: number;
}

const PRUNE_DEFAULTS: PrunePolicy = {
  from: 30_000,
  protectTokens: 8_000,
  minGainTokens: 5_000,
  minPartTokens: 120,
  useAgain: 0.1,
  halfLife: 8,
  horizon: 20,
  payback: 0.5,
  nameShare: 0.1,
};

export interface PruneOptions {
  readonly originals?: Originals | undefined;
  readonly policy?: Partial<PrunePolicy>;
  readonly prices?: Prices;
  readonly cache: "warm" | "cold";
  /**
   * Seqs of the messages behind which the provider holds a cache entry, where it reads only what was written at a mark: a
   * pass that begins further back writes everything again. Null or absent: it reads any prefix.
   */
  readonly marks?: readonly number[] | null;
}

export type PruneDecision =
  | {
      readonly kind: "prune";
      readonly entries: readonly PruneEntry[];
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      /** Of them, those that a warm cache doesn't hold any more. */
      readonly rewritten: number;
    }
  | { readonly kind: "none"; readonly reason: "small-view" | "nothing-to-prune" | "min-gain" | "does-not-pay" };

export function decidePrune<M>(prompt: Prompt<M>, options: PruneOptions): PruneDecision {
  const policy = { ...PRUNE_DEFAULTS, ...options.policy };
  const sizes = messageTokens(prompt);
  const total = sum(sizes);
  if (total < policy.from) return { kind: "none", reason: "small-view" };
  const candidates = pruneCandidates(prompt, sizes, policy);
  if (candidates.length === 0) return { kind: "none", reason: "nothing-to-prune" };
  const terms = {
    policy,
    prices: options.prices ?? RELATIVE_PRICES,
    cache: options.cache,
    sizes,
    rewrittenFrom: rewriteStart(prompt, options.marks ?? null),
    firstAfter: hasPruned(prompt) ? null : prompt.entries.filter(({ role }) => role === "assistant").length,
  };
  // Cheap look first: rendering replacements reads every word of the view.
  const rough = candidates.map((candidate) => ({ candidate, saved: candidate.tokens * (1 - policy.nameShare) - 40 }));
  if (bestBatch(rough, terms).length === 0) return { kind: "none", reason: "does-not-pay" };
  const rendered = render(prompt, candidates, { policy, originals: options.originals ?? NOWHERE });
  const chosen = bestBatch(rendered, terms);
  if (chosen.length === 0) return { kind: "none", reason: "does-not-pay" };
  const saved = sum(chosen.map((item) => item.saved));
  if (saved < policy.minGainTokens) return { kind: "none", reason: "min-gain" };
  return {
    kind: "prune",
    entries: chosen.map((item) => item.entry),
    tokensBefore: total,
    tokensAfter: total - saved,
    rewritten: sum(sizes.slice(terms.rewrittenFrom(chosen[0]!.candidate.index))) - saved,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

/** Index after the last cache mark before a change; 0 without one. */
function rewriteStart<M>({ entries }: Prompt<M>, marks: readonly number[] | null): (index: number) => number {
  if (marks === null) return (index) => index;
  const starts = entries.flatMap(({ seq }, index) => (seq !== null && marks.includes(seq) ? [index + 1] : []));
  return (index) => starts.findLast((start) => start <= index) ?? 0;
}

interface RenderedPart extends PricedPart {
  readonly entry: PruneEntry;
}

function render<M>(
  prompt: Prompt<M>,
  candidates: readonly PruneCandidate[],
  { policy, originals }: { policy: PrunePolicy; originals: Originals },
): readonly RenderedPart[] {
  const { entries, sizer } = prompt;
  const sizes = sizesOf(prompt);
  const names = namesHeld(prompt, candidates);
  const rendered: RenderedPart[] = [];
  // Newest first: what a later output still shows, an earlier one needn't repeat.
  for (const candidate of candidates.toReversed()) {
    const { index, target, part, reason } = candidate;
    const replacement = replacementFor(candidate, {
      held: names,
      count: sizes.text,
      nameShare: policy.nameShare,
      originals,
    });
    const entry = { target, part, replacement, reason };
    const { message } = entries[index]!;
    const saved = sizes.message(message) - sizes.message(applyPrune(message, entry, sizer.shape));
    if (saved > 0) rendered.push({ candidate, saved, entry });
  }
  return rendered.reverse();
}

/** Whether an earlier pass has left its marks. */
function hasPruned<M>({ entries, sizer }: Prompt<M>): boolean {
  const marked = (part: Part): boolean => (part.kind === "call" || part.kind === "result") && isPruned(part);
  return entries.some(({ message }) => sizer.shape.parts(message).some(marked));
}

/** Every name in what stays. */
function namesHeld<M>({ entries, sizer }: Prompt<M>, candidates: readonly PruneCandidate[]): Set<string> {
  const going = new Set(candidates.map(({ index, part }) => `${index}:${part}`));
  const names = new Set<string>();
  for (const [index, { message }] of entries.entries())
    for (const [position, part] of sizer.shape.parts(message).entries()) {
      if (going.has(`${index}:${position}`)) continue;
      for (const name of namesOf(part)) names.add(name);
    }
  return names;
}

const named = new WeakMap<Part, readonly string[]>();

/** Read once per part: the same view is looked at again with every message that follows. */
function namesOf(part: Part): readonly string[] {
  const cached = named.get(part);
  if (cached !== undefined) return cached;
  const names = [...countNames(partText(part)).keys()];
  named.set(part, names);
  return names;
}

/*
 * What prices ask for while the window still has room. Without a `keep`, the older part is hidden or old tool
 * results are shortened, whichever makes the coming requests cheaper; where keep was said, hiding waits for the trigger.
 * What keep promises is not touched.
 */

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
interface PruneTooth {
  /** Tokens that each request adds, as far as the view shows it. */
  readonly growth: number;
  readonly low: number;
  /** Where hiding pays on a warm cache, or the trigger asks for it. */
  readonly high: number;
  /** Tokens of a model's summary; null: rules write it. */
  readonly summary: number | null;
}

function toothOf<M>({ prompt, prune }: PlanInput<M>, { total, outside }: CutSizes, limits: Limits): PruneTooth {
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
  readonly tooth: PruneTooth;
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
  const least = input.summaryTokens ?? 0;
  const choice = chooseCut({ sizes, limits: early, cuts, policy, window, least }, "nothing");
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
  readonly tooth: PruneTooth;
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

/** Tokens of each entry's own message. */
function messageTokens<M>({ entries, factor }: Prompt<M>): readonly number[] {
  return entries.map(({ size }) => Math.ceil((size.text + size.images) * factor));
}

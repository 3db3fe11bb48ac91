/**
 * The pruning rung: decides, without a model, whether to take old outputs, inputs and images out of the view now, and
 * what stands in their place. Batched, because every change breaks the provider's prompt cache behind it: a pass waits
 * until the cache reads wasted since the last one outweigh the rewrite, or until the cache is cold [F31].
 * Pure: the same view gives the same entries, and a pruned view gives none of them again.
 */
import type { PruneEntry } from "../log/record.ts";
import { applyPrune } from "../log/view.ts";
import type { Shape } from "../message/shape.ts";
import { type Prices, RELATIVE_PRICES } from "../pricing/prices.ts";
import { costOfFetching, type PruneBalance, pruneGain, worthPruning } from "../pricing/worth.ts";
import type { Measure } from "./clamp.ts";
import { namesIn } from "./names.ts";
import { partText } from "./part-text.ts";
import { type PrunableEntry, type PruneCandidate, pruneCandidates } from "./prune-candidates.ts";
import { replacementFor } from "./prune-replacement.ts";

export interface PrunePolicy {
  /** A smaller view is left alone. */
  readonly from: number;
  /** The newest part of the view that stays as it is. */
  readonly protectTokens: number;
  /** A pass frees at least this much, or it doesn't happen. */
  readonly minGainTokens: number;
  readonly minPartTokens: number;
  /** How likely a fresh part is used again, and after how many idle requests that has halved. */
  readonly useAgain: number;
  readonly halfLife: number;
  /** Names left behind may cost this share of what they stand for. */
  readonly nameShare: number;
}

export const PRUNE_DEFAULTS: PrunePolicy = {
  from: 20_000,
  protectTokens: 12_000,
  minGainTokens: 5_000,
  minPartTokens: 120,
  useAgain: 0.2,
  halfLife: 5,
  nameShare: 0.15,
};

export interface PruneOptions<M> {
  readonly shape: Shape<M>;
  readonly measure: Measure<M>;
  readonly policy?: Partial<PrunePolicy>;
  readonly prices?: Prices;
  readonly cache: "warm" | "cold";
  /** `pays`: when the prices say so. `must`: the window is full, take what can be taken. */
  readonly when?: "pays" | "must";
}

export type PruneDecision =
  | {
      readonly kind: "prune";
      readonly entries: readonly PruneEntry[];
      readonly tokensBefore: number;
      readonly tokensAfter: number;
    }
  | { readonly kind: "none"; readonly reason: "small-view" | "nothing-to-prune" | "min-gain" | "does-not-pay" };

export function decidePrune<M>(view: readonly PrunableEntry<M>[], options: PruneOptions<M>): PruneDecision {
  const { shape, measure } = options;
  const policy = { ...PRUNE_DEFAULTS, ...options.policy };
  const must = options.when === "must";
  const sizes = view.map((entry) => measure.message(entry.message));
  const total = sizes.reduce((sum, tokens) => sum + tokens, 0);
  if (!must && total < policy.from) return { kind: "none", reason: "small-view" };
  const candidates = pruneCandidates(view, { shape, measure, ...policy });
  if (candidates.length === 0) return { kind: "none", reason: "nothing-to-prune" };
  // Cheap look first: rendering replacements reads every word of the view.
  const rough = candidates.map((candidate) => ({ candidate, saved: candidate.tokens * (1 - policy.nameShare) - 40 }));
  if (!must && bestBatch(rough, sizes, { ...options, policy }).length === 0)
    return { kind: "none", reason: "does-not-pay" };

  const rendered = render(view, candidates, { shape, measure, policy });
  const chosen = must ? rendered : bestBatch(rendered, sizes, { ...options, policy });
  if (chosen.length === 0) return { kind: "none", reason: must ? "nothing-to-prune" : "does-not-pay" };
  const saved = chosen.reduce((sum, item) => sum + item.saved, 0);
  if (!must && saved < policy.minGainTokens) return { kind: "none", reason: "min-gain" };
  return {
    kind: "prune",
    entries: chosen.map((item) => item.entry),
    tokensBefore: total,
    tokensAfter: total - saved,
  };
}

interface Priced {
  readonly candidate: PruneCandidate;
  readonly saved: number;
}

/**
 * The batch that saves most: each part that pays for the risk of being fetched again, from the best start on. The further
 * back a pass begins, the more it saves and the more is written again. Empty when none pays.
 */
function bestBatch<T extends Priced, M>(
  items: readonly T[],
  sizes: readonly number[],
  options: PruneOptions<M> & { readonly policy: PrunePolicy },
): readonly T[] {
  const prices = options.prices ?? RELATIVE_PRICES;
  const { cache, policy } = options;
  const context = sizes.reduce((sum, tokens) => sum + tokens, 0);
  const batch: T[] = [];
  let best = { length: 0, gain: 0 };
  let whole: PruneBalance = { savedReads: 0, savedTokens: 0, rewriteTokens: 0, expectedFetches: 0, cache };
  let behind = 0;
  let index = sizes.length;
  for (const item of items.toReversed()) {
    const { candidate, saved } = item;
    while (index > candidate.index) behind += sizes[--index]!;
    const expectedFetches = expectedFetch(candidate, { prices, context, policy });
    const own = { savedReads: saved * candidate.carried, savedTokens: saved, rewriteTokens: 0, expectedFetches, cache };
    if (!worthPruning(own, prices)) continue;
    batch.push(item);
    whole = {
      savedReads: whole.savedReads + own.savedReads,
      savedTokens: whole.savedTokens + saved,
      rewriteTokens: behind - whole.savedTokens - saved,
      expectedFetches: whole.expectedFetches + expectedFetches,
      cache,
    };
    const gain = pruneGain(whole, prices);
    if (gain >= best.gain) best = { length: batch.length, gain };
  }
  return batch.slice(0, best.length).reverse();
}

const ASKING_TOKENS = 60;

function expectedFetch(
  candidate: PruneCandidate,
  { prices, context, policy }: { prices: Prices; context: number; policy: PrunePolicy },
): number {
  if (candidate.reason === "superseded" || candidate.reason === "repeated") return 0;
  const likelihood = policy.useAgain * 2 ** (-candidate.idle / policy.halfLife);
  return likelihood * costOfFetching({ context, result: candidate.tokens, asking: ASKING_TOKENS }, prices);
}

function render<M>(
  view: readonly PrunableEntry<M>[],
  candidates: readonly PruneCandidate[],
  { shape, measure, policy }: { shape: Shape<M>; measure: Measure<M>; policy: PrunePolicy },
): readonly (Priced & { readonly entry: PruneEntry })[] {
  const held = namesHeld(view, candidates, shape);
  const rendered: (Priced & { entry: PruneEntry })[] = [];
  // Newest first: what a later output still shows, an earlier one needn't repeat.
  for (const candidate of candidates.toReversed()) {
    const { index, target, part, reason } = candidate;
    const replacement = replacementFor(candidate, { held, count: measure.text, nameShare: policy.nameShare });
    if (replacement === null) continue;
    const entry = { target, part, replacement, reason };
    const { message } = view[index]!;
    const saved = measure.message(message) - measure.message(applyPrune(message, entry, shape));
    if (saved > 0) rendered.push({ candidate, saved, entry });
  }
  return rendered.reverse();
}

/** Every name in what stays. */
function namesHeld<M>(
  view: readonly PrunableEntry<M>[],
  candidates: readonly PruneCandidate[],
  shape: Shape<M>,
): Set<string> {
  const going = new Set(candidates.map(({ index, part }) => `${index}:${part}`));
  const held = new Set<string>();
  for (const [index, { message }] of view.entries())
    for (const [position, part] of shape.parts(message).entries()) {
      if (going.has(`${index}:${position}`)) continue;
      for (const name of namesIn(partText(part)).keys()) held.add(name);
    }
  return held;
}

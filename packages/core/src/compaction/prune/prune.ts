/**
 * The pruning rung: decides, without a model, whether to take old outputs, inputs and images out of the view now, and
 * what stands in their place. Batched, because every change breaks the provider's prompt cache behind it: a pass waits
 * until the cache reads wasted since the last one outweigh the rewrite, or until the cache is cold [F31].
 * Pure: the same view gives the same entries, and a pruned view gives none of them again.
 */

import { applyPrune } from "../../log/apply-prune.ts";
import type { PruneEntry } from "../../log/record.ts";
import type { Part } from "../../message/shape.ts";
import { type Prices, RELATIVE_PRICES } from "../../pricing/prices.ts";
import { sizesOf } from "../../prompt/parts.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import { NOWHERE, type Originals } from "../../summary/render/originals.ts";
import { countNames } from "../../text/names.ts";
import { type BatchPolicy, bestBatch, type PricedPart } from "./batch.ts";
import { messageTokens, type PruneCandidate, pruneCandidates } from "./candidates.ts";
import { isPruned } from "./mark.ts";
import { partText } from "./part-text.ts";
import { replacementFor } from "./replacement.ts";

export interface PrunePolicy extends BatchPolicy {
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

export const PRUNE_DEFAULTS: PrunePolicy = {
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

/** Behind the last mark before a change, or all messages: what stands before them has a mark of its own. */
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

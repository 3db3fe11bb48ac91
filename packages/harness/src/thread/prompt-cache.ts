/** What a provider's prompt cache will find of the next request, as far as planning a pruning needs to know it. Pure. */
import { cutMarks } from "@palimpsest/core/internal/compaction";
import type { Prices } from "@palimpsest/core/pricing";
import type { Prompt } from "@palimpsest/core/prompt";

/**
 * `prefix`: it finds whatever it has read before (OpenAI). The others are for a provider that looks only at marks
 * (Anthropic), by what the request carries: `marks` behind the last prunings and at the end, a mark at the `end` only, or
 * `none`, so that every request is read anew.
 */
export type PromptCache = "prefix" | "marks" | "end" | "none";

interface CacheTerms {
  /** Whether there is a cache at all. */
  readonly isKept: boolean;
  readonly prices: Prices;
  /** Seqs of the messages behind which an entry stands; null: anywhere. */
  readonly marks: (reach: readonly number[]) => readonly number[] | null;
}

export function cacheTerms(promptCache: PromptCache, prices: Prices): CacheTerms {
  switch (promptCache) {
    case "prefix":
      return { isKept: true, prices, marks: () => null };
    case "marks":
      return { isKept: true, prices, marks: cutMarks };
    case "end":
      return { isKept: true, prices, marks: () => [] };
    case "none":
      return {
        isKept: false,
        prices: { ...prices, cacheRead: prices.input, cacheWrite: prices.input },
        marks: () => [],
      };
  }
}

/** Indices of the messages to mark: those that the last prunings touched, where they stand as they were sized, and the last. */
export function markedIndices<M>(
  { entries }: Pick<Prompt<M>, "entries">,
  messages: readonly M[],
  reach: readonly number[],
): readonly number[] {
  if (messages.length === 0) return [];
  const cuts = cutMarks(reach).flatMap((seq) => {
    const entry = entries.find((one) => one.seq === seq);
    const index = entry === undefined ? -1 : messages.indexOf(entry.sent);
    return index === -1 || index === messages.length - 1 ? [] : [index];
  });
  return [...cuts, messages.length - 1];
}

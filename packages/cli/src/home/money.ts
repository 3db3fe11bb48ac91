/** Amounts as people read them: small ones keep two figures that say something. */
import type { ThreadCost } from "palimpsest/home";

/** In US dollars, as every price is. */
export function money(amount: number): string {
  const size = Math.abs(amount);
  const digits = size === 0 || size >= 0.1 ? 2 : Math.min(8, 1 - Math.floor(Math.log10(size)));
  return `${amount < 0 ? "-" : ""}$${size.toFixed(digits)}`;
}

/** "spent $0.0123 (of it $0.0021 for summaries); saved $0.0041 by the cache, $0.0007 by pruning". */
export function costLine({ spent, spentOn, savedByCache, savedByPruning, unpriced }: ThreadCost): string {
  const uses = Object.entries(WORDS).flatMap(([use, word]) => {
    const part = spentOn[use as keyof typeof WORDS];
    return part === 0 ? [] : [`${money(part)} for ${word}`];
  });
  const of = uses.length === 0 ? "" : ` (of it ${uses.join(", ")})`;
  const parts = [
    ...(savedByCache === 0 ? [] : [`${money(savedByCache)} by the cache`]),
    ...(savedByPruning === 0 ? [] : [`${money(savedByPruning)} by pruning`]),
  ];
  const saved = parts.length === 0 ? "" : `; saved ${parts.join(", ")}`;
  const without = unpriced.length === 0 ? "" : ` (without ${unpriced.join(", ")}, whose price is not known)`;
  return `spent ${money(spent)}${of}${saved}${without}`;
}

/** Beside the answers themselves. */
const WORDS = { subagents: "sub-agents", summaries: "summaries", memory: "memory", embeddings: "embeddings" };

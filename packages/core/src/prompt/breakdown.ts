/**
 * What fills the window, by name. The parts are as counted, brought to the count that the account gives, so that they
 * sum exactly to the one number everything else uses. Grouped as people know it: system prompt, history, tools.
 */
import type { Budget, Count, CountSource } from "../tokens/internal.ts";
import type { Prompt } from "./prompt.ts";
import { repairTokens } from "./sizer.ts";

const SYSTEM = ["base", "memory", "skills", "instructions", "unseen"] as const;
const HISTORY = [
  ...(["summary", "acknowledgement", "rules", "state", "evidence"] as const),
  ...(["user", "assistant", "tool", "images", "repairs"] as const),
];
const TOOLS = ["definitions"] as const;
const NAMES = [...SYSTEM, ...HISTORY, ...TOOLS];

/** `unseen` was sent and isn't known: the system prompt and tools of a thread that was imported without them. `user`, `assistant` and `tool` are the tail by role; `images` are the tail's images, apart from their messages. */
export type PartName = (typeof NAMES)[number];

export interface Breakdown {
  readonly window: number;
  readonly total: number;
  readonly source: CountSource;
  /** Every part that isn't empty; sums to `total`. */
  readonly parts: Readonly<Partial<Record<PartName, number>>>;
  /** With `buffer` (free) and `reserved` (the answer's); sums to `window`, or to more when the prompt doesn't fit. */
  readonly groups: readonly Group[];
}

export interface Group {
  readonly name: "System Prompt" | "Message History" | "Tools/Response";
  readonly tokens: number;
  readonly parts: Readonly<Record<string, number>>;
}

type Parts = Readonly<Partial<Record<PartName, number>>>;

/** What fills the window, part by part. */
export function promptBreakdown<M>(prompt: Prompt<M>, count: Count, budget: Budget): Breakdown {
  return breakdown(promptParts(prompt), { count, budget });
}

export function breakdown(
  counted: Parts,
  { count, budget }: { readonly count: Count; readonly budget: Budget },
): Breakdown {
  const exact = apportion(
    NAMES.map((name) => Math.max(0, counted[name] ?? 0)),
    count.tokens,
  );
  const sizes = new Map<string, number>(NAMES.map((name, index) => [name, exact[index]!]));
  const buffer = Math.max(0, budget.window - budget.reserve - count.tokens);
  const group = (name: Group["name"], names: readonly string[], extra: Record<string, number>): Group => {
    const parts = { ...filled(names, sizes), ...extra };
    return { name, tokens: Object.values(parts).reduce((sum, tokens) => sum + tokens, 0), parts };
  };
  return {
    window: budget.window,
    total: count.tokens,
    source: count.source,
    parts: filled(NAMES, sizes),
    groups: [
      group("System Prompt", SYSTEM, {}),
      group("Message History", HISTORY, { buffer }),
      group("Tools/Response", TOOLS, { reserved: budget.reserve }),
    ],
  };
}

function filled(names: readonly string[], sizes: ReadonlyMap<string, number>): Record<string, number> {
  const present = names.filter((name) => (sizes.get(name) ?? 0) > 0);
  return Object.fromEntries(present.map((name) => [name, sizes.get(name)!]));
}

/** Whole numbers in the proportion of `weights` that sum to `total`: the largest remainders are rounded up. */
function apportion(weights: readonly number[], total: number): number[] {
  const sum = weights.reduce((all, weight) => all + weight, 0);
  // Nothing was counted, yet something was reported: it can only be what stands before the messages.
  if (sum === 0) return weights.map((_, index) => (index === 0 ? total : 0));
  const shares = weights.map((weight) => (weight / sum) * total);
  const whole = shares.map(Math.floor);
  const missing = total - whole.reduce((all, share) => all + share, 0);
  const byRemainder = shares.map((share, index) => ({ index, rest: share - whole[index]! }));
  byRemainder.sort((a, b) => b.rest - a.rest || a.index - b.index);
  for (const { index } of byRemainder.slice(0, missing)) whole[index]! += 1;
  return whole;
}

/** The part that a generated turn belongs to, by its source. */
const MADE_UP: Readonly<Partial<Record<string, PartName>>> = {
  summary: "summary",
  acknowledgement: "acknowledgement",
  rules: "rules",
  fold: "summary",
};

/** In the messages' tokens: what the reports made of the fixed part is told in them too. */
function promptParts<M>(prompt: Prompt<M>): Parts {
  const scale = prompt.fixedFactor / prompt.factor;
  const fixed = Object.entries(prompt.fixed.parts).map(([name, tokens]) => [name, tokens * scale]);
  const parts: Partial<Record<PartName, number>> = { ...Object.fromEntries(fixed), repairs: repairTokens(prompt) };
  for (const { source, role, size, additionTokens } of prompt.entries) {
    const name = MADE_UP[source] ?? (role === "system" ? "base" : role);
    parts[name] = (parts[name] ?? 0) + size.text;
    parts.images = (parts.images ?? 0) + size.images;
    parts.evidence = (parts.evidence ?? 0) + additionTokens;
  }
  return parts;
}

/**
 * What a thread would send now, and what it weighs: loads the tail, folds the view, repairs it for its provider, counts
 * it on the newest reports, breaks the count down. Reads only: a simulated window compacts in memory.
 */
import type { Policy } from "@palimpsest/core/internal/compaction";
import type { MessageSource } from "@palimpsest/core/internal/log";
import type { Dialect, Repair } from "@palimpsest/core/internal/message";
import { type Prompt, repairTokens } from "@palimpsest/core/internal/prompt";
import type { Breakdown, Budget, Count, PartName } from "@palimpsest/core/internal/tokens";
import { answerReserve, breakdown } from "@palimpsest/core/internal/tokens";
import { type Damage, damageOf } from "../stores/driver-rules.ts";
import type { Store } from "../stores/store.ts";
import { simulateWindow } from "./compact-thread.ts";
import { type Asker, sizedThread } from "./sized-thread.ts";

export interface InspectedPrompt {
  readonly kind: "prompt";
  readonly dialect: Dialect;
  /** What was sent beside the messages, where the thread knows it. */
  readonly system: unknown;
  readonly tools: readonly unknown[];
  readonly messages: readonly object[];
  /** What each of them begins with: the summary, its acknowledgement, a message that was said. */
  readonly sources: readonly MessageSource[];
  readonly repairs: readonly Repair[];
  readonly count: Count;
  readonly breakdown: Breakdown;
  /** The window forced something that the log doesn't say: this is what a run would send, not what stands there. */
  readonly simulated: boolean;
  /** Records that should stand in it are missing: this is what is left. */
  readonly damage: Damage | null;
}

export interface PromptOptions {
  /** The model's window in tokens; without it `FALLBACK_WINDOW`. */
  readonly window?: number | undefined;
  /** What is kept free for the answer; by default as for a model that doesn't state it. */
  readonly reserve?: number | undefined;
  /** Make it fit the window by the rungs that need no model, under this policy; null shows it as it stands. */
  readonly simulate?: Policy | null;
  /** Who would ask next; without it the model that was asked last, and what was sent then. */
  readonly asker?: Asker;
}

/** Where a model's window isn't known. */
const FALLBACK_WINDOW = 32_768;

/** Throws a `FloorError` when it must fit a window that nothing can fit. */
export async function threadPrompt(
  store: Store,
  threadId: string,
  options: PromptOptions = {},
): Promise<InspectedPrompt | { readonly kind: "missing" }> {
  const { window = FALLBACK_WINDOW, reserve = answerReserve(window, null), simulate: policy = null } = options;
  const load = await store.load(threadId);
  if (load === undefined) return { kind: "missing" };
  const sized = await sizedThread(store, load, options.asker);
  const { dialect, request } = sized;
  const budget = { window, reserve };
  const current = sized.prompt().count;
  const simulation = policy === null ? null : await simulateWindow(sized, { budget, policy, store });
  const prompt = sized.prompt();
  const { messages, repairs, sources } = prompt;
  const count = simulation ?? current;
  const parts = promptBreakdown(prompt, count, budget);
  const simulated = simulation !== null;
  return {
    kind: "prompt",
    dialect,
    ...request,
    messages,
    sources,
    repairs,
    count,
    breakdown: parts,
    simulated,
    damage: damageOf(load),
  };
}

/** What fills the window, part by part. */
export function promptBreakdown<M>(prompt: Prompt<M>, count: Count, budget: Budget): Breakdown {
  return breakdown(promptParts(prompt), { count, budget });
}

type Parts = Readonly<Partial<Record<PartName, number>>>;

/** What turns that nobody said count as. */
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

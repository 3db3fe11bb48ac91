/**
 * What a thread would send now, and what it weighs: loads the tail, folds the view, repairs it for its provider, counts
 * it on the newest reports, breaks the count down. Reads only: a simulated window compacts in memory.
 */
import type { Policy } from "@palimpsest/core/compaction";
import type { MessageSource, ViewEntry } from "@palimpsest/core/log";
import type { Dialect, Repair } from "@palimpsest/core/message";
import { answerReserve, type Breakdown, breakdown, type Count, type PartName } from "@palimpsest/core/tokens";
import type { Store } from "../stores/store.ts";
import { type Damage, damageOf } from "../threads/damage.ts";
import { sentMessages } from "../threads/sent-messages.ts";
import { type Asker, repairTokens, type ThreadScale, threadScale } from "../threads/thread-scale.ts";
import { squeeze } from "./squeeze.ts";

export interface ThreadPrompt {
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
  readonly squeeze?: Policy | null;
  /** Who would ask next; without it the model that was asked last, and what was sent then. */
  readonly asker?: Asker;
}

/** Where a model's window isn't known. */
const FALLBACK_WINDOW = 32_768;

/** Throws a `FloorError` when it must fit a window that nothing can fit. */
export async function threadPrompt(
  store: Store,
  thread: string,
  options: PromptOptions = {},
): Promise<ThreadPrompt | { readonly kind: "missing" }> {
  const { window = FALLBACK_WINDOW, reserve = answerReserve(window, null), squeeze: policy = null } = options;
  const load = await store.load(thread);
  if (load === undefined) return { kind: "missing" };
  const scale = await threadScale(store, load, options.asker);
  const { conversation, shape, rules, dialect, request } = scale;
  const budget = { window, reserve };
  const standing = scale.count(conversation.view(), conversation.head());
  const squeezed =
    policy === null ? null : await squeeze(conversation, { scale, budget, policy, count: standing, store });
  const entries = conversation.view();
  const { messages, repairs, sources } = sentMessages(entries, shape, rules);
  const count = squeezed ?? standing;
  const parts = breakdown(withUnseen(promptParts(entries, scale), count, scale), { count, budget });
  const simulated = squeezed !== null;
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

/**
 * A thread that was imported without its system prompt and tools was still charged for them: what the reports say beyond
 * the messages is theirs. A little more is only another way to count.
 */
function withUnseen(parts: Parts, { tokens, source }: Count, { fixed }: ThreadScale): Parts {
  const known = Object.values(parts).reduce((sum, size) => sum + size, 0);
  const unseen = tokens - known;
  if (fixed > 0 || source === "estimated" || unseen < tokens * UNSEEN_SHARE) return parts;
  return { ...parts, unseen };
}

/** Counters differ by less. */
const UNSEEN_SHARE = 0.25;

type Parts = Readonly<Partial<Record<PartName, number>>>;

function promptParts(entries: readonly ViewEntry<object>[], scale: ThreadScale): Parts {
  const { shape, meter, fixedParts } = scale;
  const parts: Partial<Record<PartName, number>> = { ...fixedParts, repairs: repairTokens(entries, scale) };
  for (const { source, message, lent } of entries) {
    const role = shape.role(message);
    const name = source === "summary" || source === "acknowledgement" ? source : role === "system" ? "base" : role;
    const { text, images } = meter.size(message);
    parts[name] = (parts[name] ?? 0) + text;
    parts.images = (parts.images ?? 0) + images;
    if (lent !== null) parts.evidence = (parts.evidence ?? 0) + meter.text(lent);
  }
  return parts;
}

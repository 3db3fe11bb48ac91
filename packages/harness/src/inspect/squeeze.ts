/**
 * Makes a conversation fit a window by the rungs that need no model, as a run with that window would have to. The
 * conversation is an imagined one: nothing is written.
 */
import type { Policy } from "@palimpsest/core/compaction";
import { fit } from "@palimpsest/core/internal/tokens";
import type { Budget, Count } from "@palimpsest/core/tokens";
import { createCompactor } from "../compaction/compactor.ts";
import { homeOriginals } from "../compaction/part-files.ts";
import { readQuotes } from "../compaction/pins.ts";
import type { Store } from "../stores/store.ts";
import type { Conversation } from "../threads/conversation.ts";
import type { ThreadScale } from "../threads/thread-scale.ts";

export interface SqueezeOptions {
  readonly scale: ThreadScale;
  readonly budget: Budget;
  readonly policy: Policy;
  readonly store: Store;
  /** The request as it stands. */
  readonly count: Count;
}

/** A plan's bound can be passed by what repairs add; each further round has less to hide. */
const ROUNDS = 4;

/** The count afterwards; null when it fitted as it was. Throws a `FloorError` when nothing can fit. */
export async function squeeze(
  conversation: Conversation<object>,
  { scale, budget, policy, store, count }: SqueezeOptions,
): Promise<Count | null> {
  if (fit({ count }, budget).kind === "fits") return null;
  const compactor = createCompactor({
    conversation,
    meter: scale.meter,
    rules: scale.rules,
    window: () => ({ size: budget.window, reserve: budget.reserve }),
    fixed: () => scale.fixed,
    count: (view) => scale.count(view, conversation.head()),
    // Only the window forces something here: a threshold would hide what still fits.
    policy: { ...policy, trigger: [] },
    prune: () => ({ cache: "cold" }),
    writer: null,
    quotes: readQuotes(store, conversation.header.id),
    archive: async () => undefined,
    originals: () => homeOriginals,
    clock: () => new Date(),
    on: () => undefined,
  });
  let now = count;
  for (let round = 0; round < ROUNDS && fit({ count: now }, budget).kind !== "fits"; round += 1) {
    const outcome = await compactor.compact({ cause: round === 0 ? "automatic" : "overflow", model: "none" });
    if (outcome.kind === "compacted")
      now = { tokens: outcome.tokensAfter, source: count.source === "estimated" ? "estimated" : "adjusted" };
  }
  return now;
}

/**
 * Makes a conversation fit a window by the rungs that need no model, as a run with that window would have to. The
 * conversation goes on in memory only: nothing is written.
 */
import type { Policy } from "@palimpsest/core/compaction";
import { fit } from "@palimpsest/core/internal/tokens";
import type { Budget, Count } from "@palimpsest/core/tokens";
import { createCompactor } from "../compaction/compactor.ts";
import { homeOriginals } from "../compaction/part-files.ts";
import { readQuotes } from "../compaction/summary.ts";
import type { Store } from "../stores/store.ts";
import type { SizedThread } from "./sized-thread.ts";

export interface SimulateOptions {
  readonly budget: Budget;
  readonly policy: Policy;
  readonly store: Store;
}

/** The count afterwards; null when it fitted as it was. Throws a `FloorError` when nothing can fit. */
export async function simulateWindow(
  { conversation, prompt }: SizedThread,
  { budget, policy, store }: SimulateOptions,
): Promise<Count | null> {
  const { count } = prompt();
  if (fit({ count }, budget).kind === "fits") return null;
  const compactor = createCompactor({
    conversation,
    prompt,
    window: () => ({ size: budget.window, reserve: budget.reserve }),
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
  const outcome = await compactor.compact({ cause: "automatic", model: "none" });
  if (outcome.kind !== "compacted") return count;
  return { tokens: outcome.tokensAfter, source: count.source === "estimated" ? "estimated" : "adjusted" };
}

/**
 * Compactions of a stored thread from nothing but its id: one that is written, under the thread's lease, or one that is
 * only tried in memory, for a dry run or to see what a window would force.
 */
import type { CompactionOutcome, Policy, Window } from "@palimpsest/core/internal/compaction";
import { RELATIVE_PRICES } from "@palimpsest/core/internal/pricing";
import type { Prompt } from "@palimpsest/core/internal/prompt";
import { type Budget, type Count, fit } from "@palimpsest/core/internal/tokens";
import type { Compactor, CompactRequest } from "../compaction/compactor.ts";
import type { OnCompactionEvent } from "../compaction/events.ts";
import { ensureParts, historyFolder, homeOriginals } from "../compaction/part-files.ts";
import { summarizationFromOptions } from "../compaction/summarization.ts";
import type { SummaryWriter } from "../compaction/summarize.ts";
import { withLease } from "../stores/leases.ts";
import type { Store } from "../stores/store.ts";
import { openCompactor } from "./asked-model.ts";
import { type SizedThread, sizedThread, sizeInTurns } from "./sized-thread.ts";
import { openStoredThread, type ThreadLog } from "./thread.ts";
import { livePrompt } from "./thread-view.ts";
import { type ThreadDeps, threadDeps } from "./writer.ts";

export interface ThreadCompaction {
  /** Where the threads' files are kept. */
  readonly home: string;
  readonly policy: Policy;
  readonly window: Window;
  readonly writer: SummaryWriter | null;
  readonly on: OnCompactionEvent;
}

export type ThreadOutcome = CompactionOutcome<object> | { readonly kind: "missing" };

export async function compactThread(
  deps: ThreadDeps,
  threadId: string,
  request: Omit<CompactRequest, "window">,
  options: ThreadCompaction,
): Promise<ThreadOutcome> {
  const load = await deps.store.load(threadId);
  if (load === undefined) return { kind: "missing" };
  if (load.head.messages === 0) return unchanged("no-history", 0, "nothing was ever said in this thread");
  const sized = await sizedThread(deps.store, load);
  if (request.dryRun) return compactorFor(sized, deps, options).compact(request);
  const leased = await withLease(deps.store, threadId, { owner: deps.ids() }, async (lease, lost) => {
    const { shape } = sized.sizer;
    const opened = await openStoredThread({ deps, id: threadId, shape, lease: { lease, lost } });
    if (opened.kind !== "open") return null;
    const { thread } = opened;
    const sizer = await sizerFor(thread, sized, deps.store);
    const signal = request.signal === undefined ? lost : AbortSignal.any([request.signal, lost]);
    await sizeInTurns(thread, sizer.meter);
    const prompt = livePrompt(thread, sizer);
    return compactorFor({ thread, counter: sized.counter, prompt }, deps, options).compact({
      ...request,
      signal,
    });
  });
  if (leased.kind === "busy")
    return unchanged(
      "busy",
      sized.prompt().count.tokens,
      `another run holds the thread: its lease was last renewed ${leased.renewedAt} and ends ${leased.expiresAt} at the latest`,
    );
  return (leased.kind === "done" ? leased.value : null) ?? { kind: "missing" };
}

/** Somebody may have written between counting the thread and holding it. */
async function sizerFor({ head, header }: ThreadLog<object>, sized: SizedThread, store: Store) {
  if (head().version === sized.thread.head().version) return sized.sizer;
  const now = await store.load(header.id);
  return now === undefined ? sized.sizer : (await sizedThread(store, now)).sizer;
}

type Sized = Pick<SizedThread, "thread" | "counter"> & { readonly prompt: () => Prompt<object> };

function compactorFor(sized: Sized, deps: ThreadDeps, options: ThreadCompaction): Compactor<object> {
  const { home, policy, window, writer, on } = options;
  const { header, head } = sized.thread;
  // A person who asks for a compaction asks for a summary; the prices of the cache are a run's business.
  const settings = { ...DEFAULTS, policy, prune: { ...DEFAULTS.prune, enabled: false } };
  const archive = () => ensureParts(historyFolder(home, header), deps.store, header.id, head().compaction);
  return storedCompactor(sized, { deps, settings, window, writer, archive, on });
}

/**
 * Makes a thread in memory fit a window by the rungs that need no model, as a run with that window would have to. Returns
 * the count afterwards; null when it fitted as it was. Throws a `FloorError` when nothing can fit.
 */
export async function simulateWindow(
  sized: SizedThread,
  { budget, policy, store }: { readonly budget: Budget; readonly policy: Policy; readonly store: Store },
): Promise<Count | null> {
  const { count } = sized.prompt();
  if (fit({ count }, budget).kind === "fits") return null;
  const compactor = storedCompactor(sized, {
    deps: threadDeps(store),
    // Only the window forces something here: a threshold would hide what still fits.
    settings: { ...DEFAULTS, policy: { ...policy, trigger: [] } },
    window: { size: budget.window, reserve: budget.reserve },
    writer: null,
    archive: async () => undefined,
    on: () => undefined,
  });
  const outcome = await compactor.compact({ cause: "automatic", model: "none" });
  if (outcome.kind !== "compacted") return count;
  return { tokens: outcome.tokensAfter, source: count.source === "estimated" ? "estimated" : "adjusted" };
}

const DEFAULTS = summarizationFromOptions();

interface StoredCompaction
  extends Pick<Parameters<typeof openCompactor<object>>[1], "deps" | "settings" | "archive" | "on"> {
  readonly window: Window;
  readonly writer: SummaryWriter | null;
}

/** Outside a run nothing is known of the provider's cache, and nothing is drafted. */
function storedCompactor({ thread, counter, prompt }: Sized, options: StoredCompaction): Compactor<object> {
  const { window, writer, ...others } = options;
  const parts = {
    ...others,
    counter,
    modelWindow: { window: () => window },
    writer: () => writer,
    originals: () => homeOriginals,
    prices: RELATIVE_PRICES,
    promptCache: "prefix",
    ahead: "no",
    label: null,
  } as const;
  return openCompactor(thread, parts, { prompt, lastAt: () => null });
}

function unchanged(reason: "busy" | "no-history", tokens: number, detail: string): ThreadOutcome {
  return { kind: "unchanged", reason, tokens, detail };
}

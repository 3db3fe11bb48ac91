/**
 * One compaction of a stored thread, from nothing but its id: takes the lease, counts the thread with its own sizer, lets
 * the compactor work and puts the part files right. A dry run needs no lease and writes nothing.
 */
import type { CompactionOutcome, Policy, Window } from "@palimpsest/core/compaction";
import type { Prompt } from "@palimpsest/core/prompt";
import { type CompactRequest, createCompactor } from "../compaction/compactor.ts";
import type { OnCompactionEvent } from "../compaction/events.ts";
import { ensureParts, historyFolder, homeOriginals } from "../compaction/part-files.ts";
import type { SummaryWriter } from "../compaction/summarize.ts";
import { readQuotes } from "../compaction/summary.ts";
import type { Store, ThreadLoad } from "../stores/store.ts";
import { withWriter } from "./acts.ts";
import { type Conversation, openConversation } from "./conversation.ts";
import { livePrompt } from "./live-prompt.ts";
import { sizedThread } from "./sized-thread.ts";
import type { ThreadDeps } from "./writer.ts";

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
  if (request.dryRun) {
    const { conversation, prompt } = await sizedThread(deps.store, load);
    return compactOn(conversation, prompt, deps, request, options);
  }
  const leased = await withWriter(deps, threadId, async (writer, lost): Promise<ThreadOutcome> => {
    const now = await deps.store.load(threadId);
    if (now === undefined) return { kind: "missing" };
    const { sizer } = await sizedThread(deps.store, now);
    const conversation = await openConversation(writer, sizer.shape);
    if (conversation === null) return { kind: "missing" };
    const signal = request.signal === undefined ? lost : AbortSignal.any([request.signal, lost]);
    return compactOn(conversation, livePrompt(conversation, sizer), deps, { ...request, signal }, options);
  });
  if (leased.kind === "busy")
    return unchanged(
      "busy",
      await tokensOf(deps.store, load),
      `another run holds the thread: its lease was last renewed ${leased.renewedAt} and ends ${leased.expiresAt} at the latest`,
    );
  return leased.kind === "missing" ? leased : leased.value;
}

function compactOn(
  conversation: Conversation<object>,
  prompt: () => Prompt<object>,
  { store, clock }: ThreadDeps,
  request: CompactRequest,
  { home, policy, window, writer, on }: ThreadCompaction,
): Promise<CompactionOutcome<object>> {
  const { id } = conversation.header;
  const archive = () =>
    ensureParts(historyFolder(home, conversation.header), store, id, conversation.head().compaction);
  const compactor = createCompactor({
    conversation,
    prompt,
    window: () => window,
    policy,
    // A person who asks for a compaction asks for a summary; the prices of the cache are a run's business.
    prune: null,
    writer,
    quotes: readQuotes(store, id),
    archive,
    originals: () => homeOriginals,
    clock,
    on,
  });
  return compactor.compact(request);
}

async function tokensOf(store: Store, load: ThreadLoad): Promise<number> {
  return (await sizedThread(store, load)).prompt().count.tokens;
}

function unchanged(reason: "busy" | "no-history", tokens: number, detail: string): ThreadOutcome {
  return { kind: "unchanged", reason, tokens, detail };
}

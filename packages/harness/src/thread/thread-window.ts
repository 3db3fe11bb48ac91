/**
 * What stands in the window and why, entry by entry, now or at any past record: sizes and reasons, without the words, which
 * `threadLines` brings. Reads only.
 */
import type { CompactionRecord, LiveRecords, PruneReason, ViewSource } from "@palimpsest/core/internal/log";
import { shownSummary } from "@palimpsest/core/internal/log";
import type { Role } from "@palimpsest/core/internal/message";
import type { Prompt } from "@palimpsest/core/internal/prompt";
import { type Breakdown, promptBreakdown } from "@palimpsest/core/internal/prompt";
import { answerReserve } from "@palimpsest/core/internal/tokens";
import type { Store } from "../stores/store.ts";
import { loadAt } from "./load-at.ts";
import { sizedThread } from "./sized-thread.ts";

interface WindowEntry {
  /** Null for what no one said: the summary and its acknowledgement. */
  readonly seq: number | null;
  readonly source: ViewSource;
  readonly role: Role;
  readonly tokens: number;
  /** Those of them that memory and recall added to it. */
  readonly evidence?: number;
  /** Why something shorter stands in its place. */
  readonly shortened?: readonly PruneReason[];
  readonly pinned?: true;
  /** Of a fold: the first and the last record it stands for. */
  readonly folded?: readonly number[];
}

interface ThreadWindow extends Breakdown {
  /** The record up to which this is the thread. */
  readonly at: number;
  readonly messages: number;
  readonly entries: readonly WindowEntry[];
  readonly compaction: LiveCompaction | null;
  readonly repairs: number;
  readonly pins: readonly number[];
  /** What an undo would take back, and a redo. */
  readonly undo: number | null;
  readonly redo: number | null;
}

interface LiveCompaction
  extends Pick<CompactionRecord, "seq" | "at" | "rung" | "reason" | "tokensBefore" | "tokensAfter" | "covers"> {
  /** The last record that it and those before it hide. */
  readonly hiddenThrough: number;
  /** As it is shown, with what people changed of it. */
  readonly text: string;
  /** It was made anew or erased since, with what was redacted. */
  readonly rewritten: boolean;
}

interface WindowOptions {
  readonly window: number;
  readonly reserve?: number | undefined;
  /** Without it as the thread stands. */
  readonly at?: number | undefined;
}

export async function threadWindow(
  store: Store,
  threadId: string,
  { window, reserve = answerReserve(window, null), at }: WindowOptions,
): Promise<ThreadWindow | null> {
  const load = at === undefined ? await store.load(threadId) : await loadAt(store, threadId, at);
  if (load === undefined) return null;
  const sized = await sizedThread(store, load);
  const prompt = sized.prompt();
  const { head } = load;
  const live = sized.thread.live();
  const { compaction, prunes } = live;
  const [newestPrune = null] = head.prunes.slice(-1);
  const acts = [head.compaction, newestPrune].filter((seq) => seq !== null);
  return {
    at: head.version,
    messages: head.messages,
    ...promptBreakdown(prompt, prompt.count, { window, reserve }),
    entries: entriesOf(prompt, { prunes, pins: head.pins }),
    compaction:
      compaction &&
      liveCompaction(compaction, {
        hiddenThrough: head.hiddenThrough,
        text: shownSummary(live, compaction.summary),
        rewritten: load.records.some(({ record, redacted }) => redacted && record.seq === compaction.seq),
      }),
    repairs: prompt.repairs.length,
    pins: head.pins,
    undo: acts.length === 0 ? null : Math.max(...acts),
    redo: head.undone?.seq ?? null,
  };
}

function entriesOf(
  prompt: Prompt<object>,
  { prunes, pins }: Pick<LiveRecords, "prunes"> & { readonly pins: readonly number[] },
): readonly WindowEntry[] {
  const pinned = new Set(pins);
  const shortened = Map.groupBy(
    prunes.flatMap(({ entries }) => entries),
    ({ target }) => target,
  );
  return prompt.entries.map(({ seq, source, role, tokens, additionTokens, folded }) => {
    const reasons = seq === null ? undefined : shortened.get(seq)?.map(({ reason }) => reason);
    return {
      seq,
      source,
      role,
      tokens: Math.round(tokens * prompt.factor),
      ...(additionTokens > 0 && { evidence: Math.round(additionTokens * prompt.factor) }),
      ...(reasons !== undefined && { shortened: [...new Set(reasons)] }),
      ...(seq !== null && pinned.has(seq) && { pinned: true as const }),
      ...(folded !== undefined && { folded }),
    };
  });
}

function liveCompaction(
  record: CompactionRecord,
  shown: Pick<LiveCompaction, "hiddenThrough" | "text" | "rewritten">,
): LiveCompaction {
  const { seq, at, rung, reason, tokensBefore, tokensAfter, covers } = record;
  return {
    seq,
    at,
    rung,
    reason,
    tokensBefore,
    tokensAfter,
    covers,
    ...shown,
  };
}

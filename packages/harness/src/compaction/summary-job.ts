/**
 * The job of writing a summary for one cut: the hidden messages as they were given, the summary so far, what is quoted,
 * the state that is frozen into it, and how long it may be. The same at the trigger and for a draft ahead of it.
 */
import type { Cut, Policy } from "@palimpsest/core/compaction";
import { behindSummary, coveredBy } from "@palimpsest/core/internal/compaction";
import { sizesOf } from "@palimpsest/core/internal/prompt";
import { NOWHERE, wordRoom } from "@palimpsest/core/internal/summary";
import type { Prompt } from "@palimpsest/core/prompt";
import type { Originals } from "@palimpsest/core/summary";
import type { Conversation } from "../threads/conversation.ts";
import type { DraftTable } from "./draft-table.ts";
import type { OnCompactionEvent } from "./events.ts";
import { gatherPins, type QuoteSource } from "./pins.ts";
import { stateLines } from "./state-lines.ts";
import type { SummaryJob } from "./summary-writer.ts";

export interface SummaryJobOptions<M> {
  readonly conversation: Conversation<M>;
  readonly policy: Policy;
  readonly quotes: QuoteSource;
  readonly originals?: () => Originals;
  readonly background?: { readonly table: DraftTable } | null;
  readonly on: OnCompactionEvent;
}

export async function summaryJob<M>(
  cut: Cut,
  { conversation, policy, quotes, originals, background, on }: SummaryJobOptions<M>,
  prompt: Prompt<M>,
  focus: string | null,
): Promise<SummaryJob<M>> {
  const { shape, original } = conversation;
  const sizes = sizesOf(prompt);
  const covered = coveredBy(conversation.live(), cut, { shape, original, state: await conversation.state() });
  const pins = await gatherPins(covered, conversation, quotes);
  const lines = stateLines(conversation.head().state);
  const input = { ...covered, pins, lines, originals: originals?.() ?? NOWHERE };
  const format = policy.summaryFormat;
  const maxTokens = roomFor(cut, behindSummary(format, shape, sizes)) - sizes.message(shape.turn("user", ""));
  const count = sizes.text;
  return {
    input,
    shape,
    maxTokens,
    count,
    focus,
    hiddenTokens: cut.hiddenTokens,
    drafts: background?.table ?? null,
    wordTokens: wordRoom({ maxTokens, count, through: cut.covers[1], originals: input.originals, format }),
    onProgress: (done, of) => on({ type: "summary-progress", done, of }),
  };
}

/** As much as the plan allows, and less than what it stands for: a summary that saves nothing is thrown away. */
function roomFor({ summaryTokens, hiddenTokens }: Cut, behind: number): number {
  return Math.min(summaryTokens, hiddenTokens - behind - 1);
}

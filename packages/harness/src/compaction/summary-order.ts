/**
 * What a summary of one cut is written from: the hidden messages as they were given, the summary so far, what is quoted
 * and the state that is frozen into it. The same for a summary written at the trigger and one drafted ahead of it.
 */

import type { Cut, Policy } from "@palimpsest/core/compaction";
import { behindSummary, coveredBy } from "@palimpsest/core/internal/compaction";
import { sizesOf } from "@palimpsest/core/internal/prompt";
import { NOWHERE, wordRoom } from "@palimpsest/core/internal/summary";
import type { Prompt } from "@palimpsest/core/prompt";
import type { Originals } from "@palimpsest/core/summary";
import type { Conversation } from "../threads/conversation.ts";
import type { DraftTable } from "./draft-table.ts";
import { gatherPins, type QuoteSource } from "./pins.ts";
import { stateLines } from "./state-lines.ts";
import type { Order } from "./write-summary.ts";

export interface OrderOptions<M> {
  readonly conversation: Conversation<M>;
  readonly policy: Policy;
  readonly quotes: QuoteSource;
  readonly originals?: () => Originals;
  readonly background?: { readonly table: DraftTable } | null;
}

export async function orderFor<M>(
  cut: Cut,
  { conversation, policy, quotes, originals, background }: OrderOptions<M>,
  prompt: Prompt<M>,
  request: Pick<Order<M>, "focus" | "model" | "signal">,
): Promise<Order<M>> {
  const { shape, original } = conversation;
  const sizes = sizesOf(prompt);
  const covered = coveredBy(conversation.live(), cut, { shape, original, state: await conversation.state() });
  const pins = await gatherPins(covered, conversation, quotes);
  const lines = stateLines(conversation.head().state);
  const input = { ...covered, pins, lines, originals: originals?.() ?? NOWHERE };
  const frame = sizes.message(shape.turn("user", ""));
  const order = {
    input,
    shape,
    maxTokens: roomFor(cut, behindSummary(policy.summaryFormat, shape, sizes)) - frame,
    count: sizes.text,
    hiddenTokens: cut.hiddenTokens,
    drafts: background?.table ?? null,
    ...request,
  };
  const through = cut.covers[1];
  const words = wordRoom({ ...order, through, originals: input.originals, format: policy.summaryFormat });
  // What could not be shown is not worth a call.
  return words < LEAST_WORDS ? { ...order, model: "none" } : order;
}

const LEAST_WORDS = 16;

/** As much as the plan allows, and less than what it stands for: a summary that saves nothing is thrown away. */
function roomFor({ summaryTokens, hiddenTokens }: Cut, behind: number): number {
  return Math.min(summaryTokens, hiddenTokens - behind - 1);
}

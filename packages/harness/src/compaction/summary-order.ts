/**
 * What a summary of one cut is written from: the hidden messages as they were given, the summary so far, what is quoted
 * and the state that is frozen into it. The same for a summary written at the trigger and one drafted ahead of it.
 */
import { type Cut, coveredBy, type Policy } from "@palimpsest/core/compaction";
import { NOWHERE, type Originals } from "@palimpsest/core/summary";
import type { Conversation } from "../threads/conversation.ts";
import type { DraftTable } from "./draft-table.ts";
import type { Gauge } from "./gauge.ts";
import { gatherPins, type QuoteSource } from "./pins.ts";
import { stateLines } from "./state-lines.ts";
import type { Order } from "./summarise.ts";

export interface OrderOptions<M> {
  readonly conversation: Conversation<M>;
  readonly policy: Policy;
  readonly quotes: QuoteSource;
  readonly originals?: () => Originals;
  readonly background?: { readonly table: DraftTable } | null;
}

export async function orderFor<M>(
  cut: Cut,
  { conversation, quotes, originals, background }: OrderOptions<M>,
  { measure }: Gauge<M>,
  request: Pick<Order<M>, "focus" | "model" | "signal">,
): Promise<Order<M>> {
  const { shape } = conversation;
  const { original } = conversation;
  const covered = coveredBy(conversation.live(), cut, { shape, original, state: await conversation.state() });
  const pins = await gatherPins(covered, conversation, quotes);
  const lines = stateLines(conversation.head().state);
  return {
    input: { ...covered, pins, lines, originals: originals?.() ?? NOWHERE },
    shape,
    maxTokens: cut.summaryTokens - measure.message(shape.turn("user", "")),
    count: measure.text,
    hiddenTokens: cut.hiddenTokens,
    drafts: background?.table ?? null,
    ...request,
  };
}

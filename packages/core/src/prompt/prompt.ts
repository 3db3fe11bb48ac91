/**
 * A prompt is a value: the view's entries with their sizes, the messages as they are sent, what had to be repaired, the
 * fixed part and the one count of it all. Trigger, plan, request, breakdown and dry run read the same one. Built from the
 * prompt before it, only what differs is done again; the result is the same either way.
 */
import type { MessageSource, ViewEntry } from "../log/view.ts";
import type { Repair, Role } from "../message/internal.ts";
import type { Count, MessageSize, PromptSize } from "../tokens/internal.ts";
import { type AsSent, type FixedSize, factorsOf, partsOf, type Sizer } from "./sizer.ts";

/** One entry of the view and its size, in the meter's tokens. */
export interface SizedEntry<M> extends ViewEntry<M> {
  readonly role: Role;
  /** The message with its addition, before anything is repaired or left out. */
  readonly sent: M;
  /** Of the message as it is sent, without its addition. */
  readonly size: MessageSize;
  /** Of its addition. */
  readonly additionTokens: number;
  /** All of it. */
  readonly tokens: number;
}

export interface Prompt<M> {
  /** Which view this is: equal keys mean that one prompt is the other one grown on. */
  readonly key: string;
  readonly entries: readonly SizedEntry<M>[];
  /** As they are sent, each with what it begins with. */
  readonly messages: readonly M[];
  readonly sources: readonly MessageSource[];
  readonly repairs: readonly Repair[];
  /** Hash of the fixed part and the messages, where the model binds its thoughts to it; null where it doesn't. */
  readonly prefix: string | null;
  /** How the messages were repaired; the next prompt continues from it. */
  readonly asSent: AsSent<M>;
  readonly fixed: FixedSize;
  /** In the meter's tokens: the entries, and the messages as sent. They differ by what joining and repairs do. */
  readonly shownTokens: number;
  readonly sentTokens: number;
  /** The whole request. */
  readonly count: Count;
  /** What one of the meter's tokens comes to in `count`: of a message, and of the fixed part. */
  readonly factor: number;
  readonly fixedFactor: number;
  /** Who sized it; whatever a plan makes of it is sized the same way. */
  readonly sizer: Sizer<M>;
}

export interface PromptOptions<M> {
  readonly sizer: Sizer<M>;
  /** Names the view, as `viewKey` does. */
  readonly key: string;
  /** The prompt before this one. Taken over where a sizer with the same meter and rules made it. */
  readonly before?: Prompt<M> | null;
}

export function buildPrompt<M>(view: readonly ViewEntry<M>[], { sizer, key, before }: PromptOptions<M>): Prompt<M> {
  const { fixed } = sizer;
  const parts = partsOf(view, sizer, before ?? null);
  const shown = Math.max(parts.shownTokens, parts.sentTokens);
  const estimate = Math.max(1, fixed.tokens + shown);
  const count = sizer.count(sizeOf({ key, fixed, ...parts }), estimate);
  const factors = factorsOf(count.tokens, { fixed: fixed.tokens, shown, known: sizer.fixedFactor() });
  return { key, ...parts, fixed, count, ...factors, sizer };
}

/** A prompt that is only considered: counted as the one it would replace. */
export function considerPrompt<M>(view: readonly ViewEntry<M>[], instead: Prompt<M>): Prompt<M> {
  const { sizer, fixed, factor, fixedFactor } = instead;
  const parts = partsOf(view, sizer, instead);
  const tokens = Math.ceil(fixed.tokens * fixedFactor + parts.sentTokens * factor);
  const source = instead.count.source === "estimated" ? "estimated" : "adjusted";
  return { ...instead, ...parts, count: { tokens, source } };
}

/** As the account takes it: the entries in order, and what repairs add as one more. */
export function sizeOf<M>({
  key,
  fixed,
  entries,
  shownTokens,
  sentTokens,
}: Pick<Prompt<M>, "key" | "fixed" | "entries" | "shownTokens" | "sentTokens">): PromptSize {
  const added = sentTokens - shownTokens;
  return {
    view: key,
    fixed: fixed.tokens,
    entries: added > 0 ? [...entries, { seq: null, tokens: added }] : entries,
  };
}

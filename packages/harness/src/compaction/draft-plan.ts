/**
 * When the next summary is worth drafting, and for which cut: one that lies before the cut which keep will want at the
 * trigger, and covers most of it. Pure. And what such a draft depends on, as one fingerprint.
 */
import { createHash } from "node:crypto";
import {
  type Cut,
  type Keep,
  type Limits,
  type Policy,
  planCompaction,
  type Threshold,
  type Window,
} from "@palimpsest/core/compaction";
import { isCeilings, limitsOf } from "@palimpsest/core/internal/compaction";
import { entryTokens } from "@palimpsest/core/internal/prompt";
import { PATCH_PROMPT_VERSION, PROSE_PROMPT_VERSION } from "@palimpsest/core/internal/summary";
import type { Prompt } from "@palimpsest/core/prompt";
import type { Conversation } from "../thread/conversation.ts";

/** Of the way to the trigger, where drafting begins. */
const SOFT_SHARE = 0.75;
/** Of what will be hidden at the trigger, what a draft must cover; the rest is added by rules. */
const LEAST_COVER = 0.6;
/** For less the summarizer is not troubled twice. */
const LEAST_TOKENS = 800;
/** Of what is still to be said before the trigger, what surely will be. */
const SURE = 0.5;

/** Null: too early, or too little could be drafted now. */
export function planDraft<M>(prompt: Prompt<M>, window: Window, policy: Policy): Cut | null {
  const { entries, factor, count } = prompt;
  const spoken = entries.filter(
    ({ source, role }) => source === "summary" || (role !== "system" && source !== "rules"),
  );
  const conversationTokens = spoken.reduce((sum, entry) => sum + entryTokens(entry, factor), 0);
  const outside = Math.max(0, count.tokens - conversationTokens);
  const limits = limitsOf(policy, window, outside);
  const fill = Math.max(
    conversationTokens / Math.max(1, limits.trigger - outside),
    limits.messages === null ? 0 : spoken.length / limits.messages.trigger,
  );
  if (fill < SOFT_SHARE || fill >= 1) return null;
  const growth = 1 / fill - 1;
  const sure = { tokens: conversationTokens * growth * SURE, messages: spoken.length * growth * SURE };
  const plan = planCompaction(prompt, {
    window,
    grown: null,
    prune: null,
    policy: { ...policy, keep: keepNow(policy.keep ?? longestTail(limits, outside), window, sure) },
    // The cut that keep asks for, whatever it gains now.
    cause: "manual",
  });
  if (plan.kind !== "compact" || plan.cut === null) return null;
  const fresh = plan.cut.hiddenTokens - foldedTokens(prompt);
  const enough = fresh >= LEAST_TOKENS && fresh >= LEAST_COVER * (fresh + conversationTokens * growth);
  return enough ? plan.cut : null;
}

/** Where nobody said what to keep: no cut at the trigger leaves more. */
function longestTail({ lowWater, maxSummary }: Limits, outside: number): Keep {
  return [{ type: "tokens", value: Math.max(1, lowWater - outside - maxSummary) }];
}

/** What is to be kept of what was said by now, when so much more will have been said. */
function keepNow(keep: Keep, window: Window, sure: { readonly tokens: number; readonly messages: number }): Keep {
  const less = ({ type, value }: Threshold): Threshold => {
    if (type === "messages") return { type, value: Math.max(1, value - Math.floor(sure.messages)) };
    const tokens = type === "fraction" ? value * window.size : value;
    return { type: "tokens", value: Math.max(1, Math.floor(tokens - sure.tokens)) };
  };
  return isCeilings(keep) ? keep.map(less) : less(keep);
}

/** Whether what was drafted is at least a third of what is to be hidden now: more is rarely said in one step. */
export function covers<M>(drafted: Cut, wanted: Cut, prompt: Prompt<M>): boolean {
  const begins = drafted.covers[0] === wanted.covers[0] && drafted.covers[1] <= wanted.covers[1];
  const folded = foldedTokens(prompt);
  return begins && 3 * (drafted.hiddenTokens - folded) >= wanted.hiddenTokens - folded;
}

/** What the summary so far takes: it is folded into the next one, but not read again. */
function foldedTokens<M>({ entries, factor }: Prompt<M>): number {
  const folded = entries.filter(({ source }) => source === "summary" || source === "acknowledgement");
  return folded.reduce((sum, entry) => sum + entryTokens(entry, factor), 0);
}

/**
 * What a draft of this cut holds for. New messages and prunes leave it as it is; an undo, a pin or redaction in its range
 * and another compaction change it.
 */
export function fingerprint<M>(conversation: Conversation<M>, cut: Cut, policy: Policy, label: string): string {
  const last = cut.covers[1];
  const live = conversation.live();
  const hash = createHash("sha256");
  const pins = conversation.head().pins.filter((seq) => seq <= last);
  const versions = [PATCH_PROMPT_VERSION, PROSE_PROMPT_VERSION, label];
  const folded = live.compaction === null ? null : [live.compaction.seq, live.compaction.summary];
  hash.update(JSON.stringify([versions, policy, cut.covers, folded, pins]));
  for (const { seq, body } of live.tail) if (seq <= last) hash.update(`\n${seq} ${body}`);
  return hash.digest("hex");
}

/**
 * When the next summary is worth drafting, and for which cut: the one that would reach the goal at the trigger, if the
 * conversation goes on as it is. Pure. And what such a draft depends on, as one fingerprint.
 */
import { createHash } from "node:crypto";
import { type Cut, limitsOf, type Policy, planCompaction } from "@palimpsest/core/compaction";
import { PATCH_PROMPT_VERSION, PROSE_PROMPT_VERSION } from "@palimpsest/core/summary";
import type { Conversation } from "../threads/conversation.ts";
import type { Gauge } from "./gauge.ts";

const SOFT_SHARE = 0.75;

/** Null: too early, or no cut made now would be enough then. */
export function planDraft<M>(conversation: Conversation<M>, measured: Gauge<M>, policy: Policy): Cut | null {
  const { shape } = conversation;
  const { view, tokens, window, measure, fixed } = measured;
  const limits = limitsOf(policy, window);
  const messages = view.filter((entry) => shape.role(entry.message) !== "system").length;
  const fill = Math.max(tokens / limits.trigger, limits.messages === null ? 0 : messages / limits.messages.trigger);
  if (fill < SOFT_SHARE && limits.trigger - tokens > 2 * limits.minGain) return null;
  const growth = tokens / Math.min(1, fill) - tokens;
  const goal = limits.goal - growth;
  const pretended = Math.floor(tokens * 0.9);
  if (goal <= 0 || pretended < 1) return null;
  const plan = planCompaction({
    view,
    shape,
    measure,
    fixed,
    window,
    policy: {
      ...policy,
      trigger: [{ type: "tokens", value: pretended }],
      lowWater: Math.min(1, goal / pretended),
    },
    cause: "automatic",
    grown: null,
    prune: null,
  });
  if (plan.kind !== "compact" || plan.rung !== "hide" || plan.entries.length > 0) return null;
  const enough = plan.reaches === "low-water" || plan.tokensAfter + growth <= limits.trigger - limits.minGain;
  return enough ? plan.cut : null;
}

/**
 * Whether a draft's cut does at the trigger what a compaction is for: reach the low-water mark, or, where the plan itself
 * can't, free at least the minimum gain.
 */
export function suffices(
  after: { readonly tokens: number; readonly messages: number },
  { policy, window, reaches }: { policy: Policy; window: Gauge<unknown>["window"]; reaches: string },
): boolean {
  const limits = limitsOf(policy, window);
  if (limits.messages !== null && after.messages >= limits.messages.trigger) return false;
  if (after.tokens <= limits.goal) return true;
  return reaches !== "low-water" && after.tokens <= Math.min(limits.fits, limits.trigger - limits.minGain);
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

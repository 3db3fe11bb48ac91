/**
 * What a playback's settings don't allow, in words: a request over its trigger by more than a turn, a tail shorter than
 * its promise where there was room, a tail over its ceilings.
 */

import { isCeilings, limitsOf, type Policy, type Window } from "@palimpsest/core/internal/compaction";
import { inUnit, type Kept, type PlayedRequest, type SettingsReport } from "./settings-playback.ts";

interface JudgedSettings {
  readonly policy: Policy;
  readonly window: Window;
}

export function brokenSettings({ requests, compactions }: SettingsReport, settings: JudgedSettings): string[] {
  return [
    ...requests.flatMap((request, at) => overTrigger(request, settings).map((what) => `request ${at}: ${what}`)),
    ...compactions.flatMap((kept, at) => brokenKeep(kept, settings).map((what) => `compaction ${at}: ${what}`)),
  ];
}

/** More than one turn over; where keep left less than a threshold waits for after an attempt, more than that. */
function overTrigger(request: PlayedRequest, { policy, window }: JudgedSettings): string[] {
  return policy.trigger.flatMap((threshold) => {
    const { type, value } = threshold;
    const sent = inUnit(request, threshold, window, "trigger");
    const turn = inUnit({ ...request.turn, whole: request.turn.tokens }, threshold, window, "trigger");
    const gain = value * policy.minGain;
    const crowded = request.left !== null && inUnit(request.left, threshold, window, "trigger") > value - gain;
    if (sent <= value + Math.max(turn, crowded ? gain : 0)) return [];
    return [`${sent} ${type} sent at a trigger of ${value}, ${turn} of them of this turn`];
  });
}

/** What no summary and its acknowledgement are larger than, if they must be small. */
const SHORT_SUMMARY = 300;

function brokenKeep(kept: Kept, { policy, window }: JudgedSettings): string[] {
  const { keep } = policy;
  const { tail, promised, before, outcome } = kept;
  if (keep === null) return [];
  if (isCeilings(keep)) {
    const over = keep.filter((ceiling) => inUnit(tail, ceiling, window) > ceiling.value);
    if (kept.cutsInside === 0) return [];
    return over.map(({ type, value }) => `${tail.messages} messages, ${tail.tokens} tokens over ${value} ${type}`);
  }
  const stayed = inUnit(tail, keep, window);
  if (stayed >= keep.value || promised === null) return [];
  const outside = before.whole - before.tokens;
  const { trigger, fits, minGain, messages } = limitsOf(policy, window, outside);
  const room =
    outside + promised.tokens + SHORT_SUMMARY <= Math.min(trigger - 1, fits - minGain) &&
    promised.tokens + SHORT_SUMMARY < before.tokens &&
    promised.messages + 2 < (messages?.trigger ?? Number.POSITIVE_INFINITY);
  if (!room && outcome.shortfall !== null) return [];
  return [`${stayed} ${keep.type} of ${keep.value} kept, ${room ? "with room for all" : "and nothing says so"}`];
}

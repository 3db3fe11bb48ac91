/** What a request would have counted whole, what was sent of it, and what that saved. Pure. */
import { limitsOf } from "@palimpsest/core/internal/compaction";
import { answerReserve } from "@palimpsest/core/tokens";
import type { ConfigFile } from "palimpsest/home";
import { summarizationForThreads } from "palimpsest/internal/config";
import { costOf, savingOf } from "palimpsest/internal/models";
import type { TokenPrices } from "palimpsest/models";

/** From the count of what was sent: nothing but the bytes of the rest is known. */
export function wholeTokens(count: number, bytes: { readonly whole: number; readonly sent: number }): number {
  return Math.max(count, Math.round((count * bytes.whole) / Math.max(1, bytes.sent)));
}

export interface SawTooth {
  readonly trigger: number;
  readonly lowWater: number;
}

/** How large prompts get under the configuration, and what a compaction brings them down to. */
export function sawTooth({ summarization }: ConfigFile, window: number, outside: number): SawTooth {
  const { policy } = summarizationForThreads(summarization);
  return limitsOf(policy, { size: window, reserve: answerReserve(window, null) }, Math.min(outside, window));
}

/** What would be sent of so many tokens: prompts grow to the trigger, are brought down to the low-water mark, and grow again. */
export function compactedTokens(whole: number, { trigger, lowWater }: SawTooth): number {
  if (whole < trigger) return whole;
  return lowWater + ((whole - trigger) % Math.max(1, trigger - lowWater));
}

interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export interface Money {
  readonly spent: number | null;
  readonly saved: number;
}

/** Null: nobody knows the prices. Without a report the tokens that were left out count as if the cache had held them. */
export function moneyOf(saved: number, usage: Usage | null, prices: TokenPrices | null): Money | null {
  if (prices === null) return null;
  const cached = { input: 0, output: 0, cacheRead: 1, cacheWrite: 0 };
  return {
    spent: usage === null ? null : costOf(usage, prices).spent,
    saved: savingOf(saved, usage ?? cached, prices),
  };
}

/** Of the prompt; null where nothing was reported. */
export function cacheShare(usage: Pick<Usage, "input" | "cacheRead"> | null): number | null {
  return usage === null || usage.input === 0 ? null : usage.cacheRead / usage.input;
}

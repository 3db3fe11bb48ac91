/**
 * The window of the model that is asked: as configured, less what its provider has stated or shown while refusing.
 * Limits are remembered for a day, and for the next process where there is a store for them.
 */
import type { Window } from "@palimpsest/core/compaction";
import { endpointKey, learnLimit } from "@palimpsest/core/internal/tokens";
import { effectiveWindow, type LearnedLimits } from "@palimpsest/core/tokens";
import type { LimitsStore } from "../models/learned-limits.ts";

export interface ModelWindow {
  window(): Window;
  /**
   * The provider refused: it takes no more than this. Not believed when it has taken more before. What it stated is kept
   * for other threads and the next process, unless one of them was given more; a guess from the size it refused is not.
   */
  learn(tokens: number, from: "stated" | "guessed"): void;
  /** The provider took a prompt of this size. */
  accept(tokens: number): void;
}

export interface ModelWindowOptions {
  /** Whose limits these are. */
  readonly endpoint: Parameters<typeof learnLimit>[1];
  /** As configured. */
  readonly window: () => number;
  /** What is kept free for the answer in a window of this size; at most half of it. */
  readonly reserve: (size: number) => number;
  readonly clock: () => Date;
  readonly limitsStore: LimitsStore | null;
}

export function createModelWindow({ endpoint, window, reserve, clock, limitsStore }: ModelWindowOptions): ModelWindow {
  let limits: LearnedLimits = limitsStore?.read() ?? {};
  let accepted = 0;
  const everybody = limitsStore === null ? null : acceptedWith(limitsStore);
  const key = endpointKey(endpoint);
  return {
    window() {
      const now = clock().getTime();
      const own = effectiveWindow(window(), { limits, endpoint, now });
      const told = effectiveWindow(window(), { limits: limitsStore?.latest?.() ?? {}, endpoint, now });
      const size = told.tokens < accepted ? own.tokens : Math.min(own.tokens, told.tokens);
      const configured = size < window() ? window() : undefined;
      return { size, reserve: Math.min(reserve(size), Math.floor(size / 2)), configured };
    },
    accept(tokens) {
      accepted = Math.max(accepted, tokens);
      everybody?.set(key, Math.max(everybody.get(key) ?? 0, tokens));
    },
    learn(tokens, from) {
      if (tokens < accepted) return;
      const limit = { tokens, learnedAt: clock().getTime() };
      limits = learnLimit(limits, endpoint, limit);
      const isForAll = from === "stated" && tokens >= (everybody?.get(key) ?? 0);
      // Others may have learned since.
      if (isForAll) limitsStore?.keep(learnLimit(limitsStore.read(), endpoint, limit));
    },
  };
}

/** The largest prompts that endpoints have taken from the threads that share a place for limits. */
function acceptedWith(limitsStore: LimitsStore): Map<string, number> {
  const known = acceptedBy.get(limitsStore) ?? new Map<string, number>();
  acceptedBy.set(limitsStore, known);
  return known;
}

const acceptedBy = new WeakMap<LimitsStore, Map<string, number>>();

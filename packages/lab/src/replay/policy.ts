/**
 * What a policy is to the bench: before each request it may change the view, and says which calls of its own that took.
 * A policy sees only the past.
 */
import type { ViewEntry } from "@palimpsest/core/internal/log";
import type { OpenAiMessage } from "@palimpsest/core/internal/message";
import type { Prices } from "@palimpsest/core/internal/pricing";
import type { Meter } from "@palimpsest/core/internal/tokens";

export type View = readonly ViewEntry<OpenAiMessage>[];

interface PolicyMoment {
  readonly meter: Meter<OpenAiMessage>;
  readonly fixedTokens: number;
  readonly cache: "warm" | "cold";
  readonly prices: Prices;
  /** Messages behind which the provider holds an entry; null: it reads any prefix. */
  readonly marks: readonly OpenAiMessage[] | null;
}

export interface Prepared {
  readonly view: View;
  readonly calls: readonly SideCall[];
}

export interface SideCall {
  readonly input: number;
  /** Of the input, what was read from the cache. */
  readonly cached?: number;
  readonly output: number;
}

export interface Policy {
  readonly name: string;
  prepare(view: View, moment: PolicyMoment): Prepared;
}

/**
 * What a policy is to the bench: before each request it may change the view, and says which calls of its own that took.
 * A policy sees only the past.
 */
import type { ViewEntry } from "@palimpsest/core/log";
import type { OpenAiMessage } from "@palimpsest/core/message";
import type { Meter } from "@palimpsest/core/tokens";

export type View = readonly ViewEntry<OpenAiMessage>[];

interface Moment {
  readonly meter: Meter<OpenAiMessage>;
  readonly fixedTokens: number;
  readonly cache: "warm" | "cold";
}

export interface Prepared {
  readonly view: View;
  readonly calls: readonly SideCall[];
}

interface SideCall {
  readonly input: number;
  readonly output: number;
}

export interface Policy {
  readonly name: string;
  prepare(view: View, moment: Moment): Prepared;
}

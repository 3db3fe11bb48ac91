/** What a compaction tells the outside, and a thread beside it: types alone, so that a page can read them too. */
import type { CompactionOutcome, CompactPlan } from "@palimpsest/core/internal/compaction";
import type { Range } from "@palimpsest/core/internal/log";
import type { DropReason } from "@palimpsest/core/internal/summary";
import type { CountSource } from "@palimpsest/core/internal/tokens";
import type { Usage } from "../models/facts.ts";

export type CompactionEvent =
  | {
      readonly type: "compaction-check";
      readonly tokens: number;
      readonly source: CountSource;
      readonly window: number;
    }
  | { readonly type: "compaction-trigger"; readonly reason: CompactPlan["reason"] }
  | { readonly type: "compaction-start"; readonly hide: number; readonly keep: number }
  | { readonly type: "summary-progress"; readonly done: number; readonly of: number }
  | { readonly type: "summary-written"; readonly by: "summarize" | "extract" | "rollover"; readonly tokens: number }
  | { readonly type: "summary-failed"; readonly reason: string; readonly detail: string }
  /** What the summarizer said that could not stand: unknown items, impossible sources, orders, approvals. */
  | { readonly type: "summary-corrected"; readonly corrected: readonly SummaryCorrection[] }
  /** What the summarizer's calls took, apart from the conversation's own usage. */
  | ({ readonly type: "summary-usage"; readonly calls: number } & Usage)
  | { readonly type: "draft-start"; readonly covers: Range }
  | { readonly type: "draft-ready"; readonly covers: Range; readonly calls: number }
  | { readonly type: "draft-dropped"; readonly covers: Range; readonly reason: string }
  | { readonly type: "draft-used"; readonly covers: Range }
  | { readonly type: "breaker-open"; readonly failures: number; readonly until: string }
  | { readonly type: "compaction-end"; readonly outcome: CompactionOutcome; readonly messages: number };

export type OnCompactionEvent = (event: CompactionEvent) => void;

export interface SummaryCorrection {
  readonly what: string;
  readonly why: DropReason | "not-understood";
}

export interface OverflowEvent {
  readonly type: "overflow-recover";
  readonly reason: string;
  /** The limit the provider stated, if it did. */
  readonly stated: number | null;
  /** What the prompt is made to fit now. */
  readonly window: number;
}

export type ThreadEvent = CompactionEvent | OverflowEvent;

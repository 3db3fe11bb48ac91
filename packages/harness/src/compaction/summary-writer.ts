/**
 * Who writes a summary. A writer turns the hidden messages into a summary state, or says why it could not; it never
 * touches the thread. Without one, or when it fails, the extract does the same without a model.
 */
import type { SummaryInput } from "@palimpsest/core/compaction";
import type { Shape } from "@palimpsest/core/message";
import type { DropReason, SummaryState } from "@palimpsest/core/summary";
import type { DraftTable } from "./draft-table.ts";
import type { SummaryUsage } from "./summarize.ts";

export interface SummaryJob<M> {
  readonly input: SummaryInput<M>;
  readonly shape: Shape<M>;
  /** The most the rendered summary may count, and how it is counted. */
  readonly maxTokens: number;
  readonly count: (text: string) => number;
  /** What the person asked to keep in view, for a manual compaction. */
  readonly focus: string | null;
  /** Tokens the summary must stay below to be of any use. */
  readonly hiddenTokens: number;
  readonly onProgress: (done: number, of: number) => void;
  /** What there is room for beside what is quoted and listed; not known: enough. */
  readonly wordTokens?: number;
  /** Where finished parts of this summary may be kept, so that a crash repeats none of them. */
  readonly drafts?: DraftTable | null;
}

export type SummaryResult =
  | {
      readonly kind: "written";
      readonly state: SummaryState;
      readonly calls: number;
      /** Tool outputs it saw only as digests. */
      readonly digested: number;
      /** What the summarizer said that could not stand, or not as it was said. */
      readonly corrected?: readonly Correction[];
      readonly usage?: SummaryUsage;
    }
  | {
      readonly kind: "failed";
      readonly reason: SummaryFailure;
      readonly detail: string;
      readonly calls: number;
      readonly usage?: SummaryUsage;
    };

export interface Correction {
  readonly what: string;
  readonly why: DropReason | "not-understood";
}

export type SummaryFailure = "error" | "timeout" | "aborted" | "empty" | "refusal" | "no-shrink" | "invalid";

export type SummaryWriter = <M>(job: SummaryJob<M>, signal: AbortSignal) => Promise<SummaryResult>;

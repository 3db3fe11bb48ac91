/**
 * What a compaction came to. Expected endings are values that name their reason; nothing here throws.
 */
import type { Range, Rung } from "../log/record.ts";
import type { MessageSource } from "../log/view.ts";
import type { ShortenedRequest } from "./policy.ts";

export type CompactionOutcome<M = unknown> =
  | {
      readonly kind: "compacted";
      readonly rung: Rung;
      readonly reason: string;
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      /** First and last seq hidden from the view now; null when parts were only shortened. */
      readonly hidden: Range | null;
      /** Records of the hidden range that are still shown verbatim: system messages, the request. */
      readonly standing: readonly number[];
      /** The part file just written; null when there is no workspace or nothing was hidden. */
      readonly archivePath: string | null;
      /** The view as it would be sent now. */
      readonly messages: readonly M[];
      /** What each of them begins with: the summary, its acknowledgement, a message that was said. */
      readonly sources: readonly MessageSource[];
      /** Summarizer calls made, and how many tool outputs it saw only as digests. */
      readonly calls: number;
      readonly digested: number;
      readonly ms: number;
      /** Which setting could not be met: less was kept than promised, or the view is above the trigger. Null if all were. */
      readonly shortfall: string | null;
      /** The current request, where this compaction shortened it; null if it is whole. */
      readonly shortened: ShortenedRequest | null;
    }
  | {
      readonly kind: "unchanged";
      readonly reason:
        | "below-trigger"
        | "nothing-to-cut"
        | "no-shrink"
        | "busy"
        | "no-history"
        | "waiting"
        | "aborted"
        | "conflict";
      readonly tokens: number;
      readonly detail: string;
    };

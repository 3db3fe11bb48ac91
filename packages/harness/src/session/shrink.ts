/**
 * After a refusal for length: the prompt is made to fit what the provider said it takes, without a model. The book
 * learns the limit, so that the next prompt is planned for it.
 */
import type { CompactionOutcome } from "@palimpsest/core/compaction";
import type { CompactRequest } from "../compaction/compactor.ts";
import type { Overflow } from "./overflow.ts";
import type { WindowBook } from "./window-book.ts";

export interface OverflowEvent {
  readonly type: "overflow-recover";
  readonly reason: string;
  /** The limit the provider stated, if it did. */
  readonly stated: number | null;
  /** What the prompt is made to fit now. */
  readonly window: number;
}

export interface Refused {
  readonly overflow: Overflow;
  readonly reason: string;
  /** What the refused prompt counts. */
  readonly counted: number;
}

export interface ShrinkOptions {
  readonly book: WindowBook;
  readonly compact: (request: CompactRequest) => Promise<CompactionOutcome>;
  readonly on: (event: OverflowEvent) => void;
  readonly signal: AbortSignal;
}

/** False when nothing could be shed: asking again would be refused again. */
export async function shrink(
  { overflow, reason, counted }: Refused,
  { book, compact, on, signal }: ShrinkOptions,
): Promise<boolean> {
  if (overflow.kind === "tokens") book.learn(overflow.limit ?? counted, overflow.limit === null ? "guessed" : "stated");
  const { size, reserve } = book.window();
  const window = Math.min(fittingSize(overflow, { counted, size }), Math.floor(counted * SHRINK) + reserve);
  on({ type: "overflow-recover", reason, stated: overflow.limit, window });
  const request = { cause: "overflow", model: "none", signal } as const;
  const outcome = await compact({ ...request, window: { size: window, reserve: Math.min(reserve, window / 2) } });
  return outcome.kind === "compacted";
}

/** What was refused is sent again this much smaller at least. */
const SHRINK = 0.9;

/** In our own count: where the provider counted the same prompt differently, its limit is scaled to ours. */
function fittingSize({ kind, requested }: Overflow, { counted, size }: { counted: number; size: number }): number {
  if (kind === "bytes") return Math.floor(Math.min(size, counted) / 2);
  return Math.floor(requested !== null && requested > counted ? (size * counted) / requested : size);
}

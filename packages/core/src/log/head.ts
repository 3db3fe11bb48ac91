/**
 * The head of a thread: the small derived row that makes a load cost its tail and not its age. It is a pure fold over
 * the log (`advance`), is written in the append's transaction, and can be recomputed at any time (`doctor --rebuild`).
 * It refers to records by seq and repeats none of their content.
 */

export interface Head {
  /** The last record's seq, 0 for an empty thread. */
  readonly version: number;
  /** Hash of the chain up to there. */
  readonly hash: string;
  readonly messages: number;
  readonly updatedAt: string;
  /** The live compaction, if any, and the last seq it hides; the tail is every message after it. */
  readonly compaction: number | null;
  readonly hiddenThrough: number;
  /** Live prunes that touch a visible message, in order. */
  readonly prunes: readonly number[];
  readonly pins: readonly number[];
  /** Newest evidence and usage that still matter to the view. */
  readonly usage: number | null;
  readonly evidence: readonly number[];
  /** The newest undo not itself undone, and the view's size then: automatic compaction waits behind it. */
  readonly undone: { readonly seq: number } | null;
  /** Per model: reported against estimated growth. */
  readonly factors: Readonly<Record<string, number>>;
  readonly state: Readonly<Record<string, unknown>>;
}

/** A record with its place in the chain: the hash covers the header text and the body's hash, not the body. */
export interface ChainedRecord {
  readonly seq: number;
  readonly kind: string;
  readonly at: string;
  /** Canonical JSON of everything but the body. */
  readonly header: string;
  /** JSON text of what a redaction may erase; null when the kind has none. */
  readonly body: string | null;
  readonly bodyHash: string | null;
  readonly hash: string;
}

/**
 * The index port: what a store keeps for search and what it must return. A store never ranks. It holds entries made by
 * `indexEntry`, answers two questions about a scope, and core (`search.ts`) does the rest, so that every store gives the
 * same hits in the same order.
 *
 * Contract, checked by `conformance.ts` against the index in memory:
 * 1. Terms are opaque words: never analyzed again, compared byte for byte. They hold no white space, quote or control
 *    character, but separators such as `-./:\@#_` and letters of any script.
 * 2. An entry is known by (thread, seq); putting it again replaces it, removing it (redaction) leaves a gap in `ordinal`.
 *    Text that is an echo has no entry and takes no ordinal.
 * 3. `ordinal` and `session` come from `place` (entry.ts), given the thread's newest entry; a fork goes on from its
 *    parent's entry at the fork. In a thread scope a fork's inherited entries (seq <= forkedAt) belong to it and are
 *    returned under the fork's own id; in a user scope each entry is returned once, under the thread that owns it.
 * 4. `statistics` counts the entries of the scope and, per asked term, those that hold it. Exact, not estimated.
 * 5. `candidates` returns, for every seek, the entries of the scope that hold all of its terms: the newest `limit` of them
 *    (highest seq first; in a user scope the thread whose newest entry has the greatest `at` first, then by its id), and for each of
 *    those also every entry of the same thread and session whose ordinal is at most `reach` away. Each entry once, in any
 *    order. `frequencies[i]` is the weight of `terms[i]` in it, 0 where absent; numbers as given, not rounded. `passages[i]` is in
 *    which passages it stands, as given; null where none of the terms has any.
 */

export type Scope =
  | { readonly kind: "thread"; readonly threadId: string }
  | { readonly kind: "user"; readonly userId: string };

/** What a store keeps of one message. */
export interface IndexEntry {
  /** Who speaks: a name where there is one, else the role. */
  readonly speaker: string;
  /** ISO 8601. */
  readonly at: string;
  /** Indexed words; a whole number, so that sums agree everywhere. */
  readonly length: number;
  /** The text asks something: the next entry probably answers. */
  readonly asks: boolean;
  /** Weighted frequency by term, in hundredths at the finest. */
  readonly terms: ReadonlyMap<string, number>;
  /** Of a long text: in which of its passages each term stands, as bits (entry.ts). A term of most of them, and its date, are missing. */
  readonly passages?: ReadonlyMap<string, number>;
}

/** Where an entry stands among its neighbours. Both count from 0 within a thread. */
export interface Placement {
  readonly ordinal: number;
  readonly session: number;
  readonly at: string;
}

/** An entry as a candidate: frequencies of the asked terms only. */
export interface IndexedDoc {
  readonly threadId: string;
  readonly seq: number;
  readonly ordinal: number;
  readonly session: number;
  readonly at: string;
  readonly speaker: string;
  readonly length: number;
  readonly asks: boolean;
  readonly frequencies: ArrayLike<number>;
  /** By term, as bits; 0 where it belongs to all of the message. Null for a message that is one passage. */
  readonly passages: ArrayLike<number> | null;
}

export interface ScopeStatistics {
  readonly entries: number;
  /** Sum of all entries' `length`. */
  readonly totalLength: number;
  /** How many entries hold the term; a term nobody holds may be missing. */
  readonly holding: ReadonlyMap<string, number>;
}

/** Entries that hold all of these terms, the newest `limit` of them. */
export interface Seek {
  readonly all: readonly string[];
  readonly limit: number;
}

export interface CandidateRequest {
  readonly terms: readonly string[];
  readonly seeks: readonly Seek[];
  readonly reach: number;
}

export interface RecallIndex {
  statistics(scope: Scope, terms: readonly string[]): Promise<ScopeStatistics>;
  candidates(scope: Scope, request: CandidateRequest): Promise<readonly IndexedDoc[]>;
}

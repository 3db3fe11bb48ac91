/**
 * The store port: few required methods over threads, records and leases. A driver only persists; what a record means,
 * its hash and the head that follows from it are computed in core before they get here.
 */
import type { ChainedRecord, Head, LogRecord, Range, ThreadHeader } from "@palimpsest/core/log";

export interface Store {
  /** Creates the thread or returns `exists`. */
  createThread(header: ThreadHeader, head: Head): Promise<"created" | "exists">;
  header(thread: string): Promise<ThreadHeader | undefined>;
  head(thread: string): Promise<Head | undefined>;
  /** All records or none, with the new head, if the thread still stands at `expect` and the lease still holds. */
  append(thread: string, batch: AppendBatch): Promise<AppendResult>;
  /** Records in order; a fork reads its parent's up to where it left. */
  records(thread: string, query?: RecordQuery): AsyncIterable<StoredRecord>;
  /** Threads by most recent change, a page at a time. */
  threads(query?: ThreadQuery): Promise<ThreadPage>;
  fork(request: {
    from: string;
    at: number;
    header: ThreadHeader;
    head: Head;
  }): Promise<"created" | "exists" | "missing">;
  /** Forks keep their own copy of what they shared. */
  deleteThread(thread: string): Promise<"deleted" | "missing" | "busy">;
  /** Replaces bodies by skeletons and appends the receipt, in one transaction. */
  redact(thread: string, bodies: readonly { seq: number; body: string }[], batch: AppendBatch): Promise<AppendResult>;
  acquireLease(thread: string, owner: string, ttlMs: number): Promise<LeaseResult>;
  renewLease(lease: Lease, ttlMs: number): Promise<"renewed" | "lost">;
  releaseLease(lease: Lease): Promise<void>;
  /** For `doctor --rebuild`: overwrites the derived head row. */
  writeHead(thread: string, head: Head): Promise<void>;
  vacuum(): Promise<void>;
  close(): Promise<void>;
}

/** A record as the store keeps it: what was hashed, and whether its body has been erased since. */
export interface StoredRecord {
  readonly record: LogRecord;
  readonly chained: ChainedRecord;
  readonly redacted: boolean;
}

export interface AppendBatch {
  readonly expect: number;
  readonly records: readonly ChainedRecord[];
  readonly head: Head;
  readonly lease: Lease | null;
}

export type AppendResult =
  | { readonly kind: "appended"; readonly version: number }
  | { readonly kind: "conflict"; readonly version: number }
  | { readonly kind: "lease-lost" }
  | { readonly kind: "busy"; readonly owner: string }
  | { readonly kind: "missing" };

export interface RecordQuery {
  readonly range?: Range;
  readonly kinds?: readonly LogRecord["kind"][];
  readonly order?: "ascending" | "descending";
}

export interface ThreadQuery {
  readonly user?: string;
  readonly limit?: number;
  readonly after?: string;
}

export interface ThreadPage {
  readonly threads: readonly ThreadSummary[];
  /** Pass as `after` for the next page; null at the end. */
  readonly next: string | null;
}

export interface ThreadSummary {
  readonly header: ThreadHeader;
  readonly title: string | null;
  readonly messages: number;
  readonly updatedAt: string;
}

export interface Lease {
  readonly thread: string;
  readonly owner: string;
  readonly epoch: number;
}

export type LeaseResult =
  | { readonly kind: "acquired"; readonly lease: Lease }
  | { readonly kind: "busy"; readonly owner: string; readonly expiresAt: string }
  | { readonly kind: "missing" };

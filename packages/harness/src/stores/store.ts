/**
 * The store port. Required is the log: threads, records and leases. A thread is named by its user and its id; a store is
 * always seen as one user, so that another's thread can't be named, and an id alone is enough everywhere else. A driver
 * only persists; what a record means, its hash and the head that follows from it are computed in core before they get
 * here. Expected outcomes are values; a driver throws `StoreError` only for what the caller can't plan for (corrupt,
 * locked, full, unwritable).
 */
import type { ChainedRecord, Head, LogRecord, Range, ThreadHeader } from "@palimpsest/core/internal/log";
import type { NewJob, Outbox } from "./outbox.ts";
import type { SearchTables } from "./search-tables.ts";
import type { Shared } from "./shared.ts";

/** What every store has: the log. What else it may have is in `Capabilities`. */
export interface Store extends Partial<Capabilities> {
  /** Whose threads these are. */
  readonly userId: string;
  /** The same database as another user sees it; closing one closes both. Throws for a user that `checkUser` refuses. */
  forUser(userId: string): Store;
  /** Who has threads, in order, some hundred after the given one; none: that was the last. */
  users(after?: string): Promise<readonly string[]>;
  /** Creates a thread with its first records, if any, all at once, or returns `exists`. Throws for a header of another user. */
  createThread(header: ThreadHeader, head: Head, records?: readonly ChainedRecord[]): Promise<"created" | "exists">;
  header(threadId: string): Promise<ThreadHeader | undefined>;
  head(threadId: string): Promise<Head | undefined>;
  /** All records or none, with the new head, if the thread still stands at `expect` and the lease still holds. */
  append(threadId: string, batch: AppendBatch): Promise<AppendResult>;
  /**
   * Takes the lease for `batch.lease.owner`, whatever its epoch, and appends under it, in one step. `moved`: the lease is taken,
   * but the log no longer ends as `claim` says, and nothing was written. A store without it takes two steps.
   */
  appendFirst?(threadId: string, batch: AppendBatch, claim: LeaseClaim): Promise<FirstAppendResult>;
  /** Records in order, streamed; a fork reads its parent's up to where it left. Nothing for a missing thread. */
  records(threadId: string, query?: RecordQuery): AsyncIterable<StoredRecord>;
  /** Everything a view needs in one consistent read, at the cost of the tail and not of the thread's age. */
  load(threadId: string): Promise<ThreadLoad | undefined>;
  /** A page of threads: by most recent change, or by creation (oldest first), where no thread is missed or shown twice. */
  threads(query?: ThreadQuery): Promise<ThreadPage>;
  /** Shares the parent's records up to `at`. `beyond-end`: the parent has no such record. */
  fork(request: ForkRequest): Promise<"created" | "exists" | "missing" | "beyond-end">;
  /** Every thread that shows this very record: the one that wrote it and the forks that share it. */
  sharers(threadId: string, seq: number): Promise<readonly string[]>;
  /** Forks keep what they shared. A thread that is held is `busy`, but not to who holds it. */
  deleteThread(threadId: string, held?: Lease): Promise<"deleted" | "missing" | "busy">;
  /** Replaces bodies for good and appends the receipts, one batch per thread that shows them, in one transaction. */
  redact(request: RedactRequest): Promise<AppendResult>;
  acquireLease(threadId: string, owner: string, ttlMs: number): Promise<LeaseResult>;
  renewLease(lease: Lease, ttlMs: number): Promise<"renewed" | "lost">;
  releaseLease(lease: Lease): Promise<void>;
  /** For `doctor --rebuild`: overwrites the derived head row, unless the log has moved on since. */
  writeHead(threadId: string, head: Head): Promise<"written" | "conflict" | "missing">;
  /** What several processes on this store tell each other. Without it each takes itself for the only one. */
  readonly shared?: Shared;
  close(): Promise<void>;
}

/** What an engine may lack; docs/stores.md says what follows from it. */
export interface Capabilities {
  /** The search index: derived from the log, and forgotten with what it was made from. Without it a search reads the log. */
  readonly search: SearchTables;
  /** Summaries being prepared: a cache that may be dropped at any time. They go with their thread. Without it none is prepared. */
  readonly drafts: Drafts;
  /** Memory documents of all users, by user and agent. Without it memory is kept in files. */
  readonly memories: MemoryRows;
  /** Jobs of all users, written by `append`, carried out by a worker. Without it nothing is learned from turns. */
  readonly outbox: Outbox;
  /** Texts that requests repeat, once per user. Without it each thread's log holds its own. */
  readonly prompts: PromptTexts;
  /** Keys to a gateway, of all users, without the keys themselves. Without it a gateway answers its own machine only. */
  readonly keys: KeyRows;
  /** Where conversations stand after answers, so that one that is sent again is known. Without it each is taken for a new one. */
  readonly matches: MatchRows;
  /** What keeps the engine's own files in order. Without it there is nothing to be kept. */
  readonly upkeep: Upkeep;
}

export type Capability = keyof Capabilities;

/** A store with every capability, as both of our engines are. */
export interface FullStore extends Omit<Store, Capability | "forUser">, Capabilities {
  forUser(userId: string): FullStore;
}

export interface Upkeep {
  /** After something was erased or deleted: takes what the engine itself still keeps of it out of its files. */
  scrub(): Promise<Scrubbed>;
  /** Whether the engine itself finds its files whole. */
  check(): Promise<{ readonly ok: boolean; readonly detail: string }>;
  /** Gives freed space back. */
  vacuum(): Promise<void>;
  /** Writes about as much as a long message and takes it back: throws if the store can't be written. */
  probe?(): Promise<void>;
  /** Builds what indexes are missing after an update, beside all other work; their names. */
  index?(): Promise<readonly string[]>;
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
  readonly lease: Lease;
  /** Work that this append asks for: queued with it or not at all. A store without an outbox leaves it out. */
  readonly jobs?: readonly NewJob[];
  /** Texts that these records name by their hash; a store with `prompts` keeps each for as long as a thread names it. */
  readonly prompts?: readonly PromptText[];
  /** What the conversation is known by after answers among these records; a store without `matches` leaves it out. */
  readonly matches?: readonly NewMatch[];
  /**
   * `later`: it is in the log at once, for everybody, but a power cut may take it until the next append that waits for the
   * disk. For what comes again by itself.
   */
  readonly flush?: "now" | "later";
  /** `released`: the lease is given back with this append, the last one under it. */
  readonly leaseAfter?: "kept" | "released";
}

export interface LeaseClaim {
  readonly ttlMs: number;
  /** Hash of the record that the batch follows. */
  readonly after: string;
}

export type FirstAppendResult =
  | { readonly kind: "appended" | "moved"; readonly lease: Lease }
  | HeldLease
  | { readonly kind: "missing" };

/** A system prompt, a tool set or a set of parameters. */
export interface PromptText {
  readonly hash: string;
  readonly text: string;
}

/** Of the store's user. They are written by `append` and go with the last thread that names them. */
export interface PromptTexts {
  get(hash: string): Promise<string | undefined>;
  list(): Promise<readonly PromptText[]>;
  /** Erases texts for good: the records go on naming them. */
  drop(hashes: readonly string[]): Promise<void>;
}

export type AppendResult =
  | { readonly kind: "appended"; readonly version: number }
  | { readonly kind: "conflict"; readonly version: number }
  | { readonly kind: "lease-lost" }
  | { readonly kind: "missing" };

export interface RecordQuery {
  /** Inclusive; without it the whole log. */
  readonly range?: Range;
  readonly kinds?: readonly LogRecord["kind"][] | undefined;
  /** Only these, in one read however far they lie apart. */
  readonly seqs?: readonly number[];
  readonly order?: "ascending" | "descending";
  /** `none`: they aren't read; then only the header in `chained` says anything. */
  readonly bodies?: "none";
}

/** `records`, ascending: all after the hidden range, and before it only what the head and the compaction refer to. */
export interface ThreadLoad {
  readonly header: ThreadHeader;
  readonly head: Head;
  readonly records: readonly StoredRecord[];
}

export interface ThreadQuery {
  readonly kind?: ThreadHeader["kind"] | undefined;
  readonly limit?: number;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
  readonly order?: "recent" | "created";
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

export interface ForkRequest {
  readonly from: string;
  readonly at: number;
  readonly header: ThreadHeader;
  /** As it is after the fork's own first records, if it starts with any. */
  readonly head: Head;
  readonly records?: readonly ChainedRecord[];
}

export interface RedactRequest {
  readonly bodies: readonly { readonly threadId: string; readonly seq: number; readonly body: string }[];
  /** Of records whose words stand in their header. */
  readonly headers?: readonly { readonly threadId: string; readonly seq: number; readonly header: string }[];
  readonly batches: readonly { readonly threadId: string; readonly batch: AppendBatch }[];
}

/** `held`: another process reads the database as it was, so that `file` still holds the words until it has ended. */
export type Scrubbed = { readonly kind: "clean" } | { readonly kind: "held"; readonly file: string };

/** The right to append to a thread. Each new owner gets a higher epoch; an append with an older one is refused. */
export interface Lease {
  readonly threadId: string;
  readonly owner: string;
  readonly epoch: number;
}

export type LeaseResult =
  | { readonly kind: "acquired"; readonly lease: Lease }
  | HeldLease
  | { readonly kind: "missing" };

/** Somebody else's, by the database's clock. */
export interface HeldLease {
  readonly kind: "busy";
  readonly owner: string;
  /** When its owner took it or last renewed it. One that works renews it every 10 seconds. */
  readonly renewedAt: string;
  /** When it is free, unless its owner renews it or is found to be gone before. */
  readonly expiresAt: string;
}

export interface Drafts {
  get(threadId: string, key: string): Promise<Draft | undefined>;
  put(threadId: string, key: string, value: string, created: string): Promise<"put" | "missing">;
  /** One draft, or all of the thread's. */
  drop(threadId: string, key?: string): Promise<void>;
}

export interface Draft {
  readonly value: string;
  readonly created: string;
}

export interface MemoryRows {
  get(userId: string, agentName: string): Promise<MemoryRow | undefined>;
  /** Of the row, without reading the document; 0 when there is none. */
  revision(userId: string, agentName: string): Promise<number>;
  /** Written if the row still has the revision `expect`; 0 says that there is none. */
  put(userId: string, agentName: string, row: MemoryRow, expect: number): Promise<"saved" | "conflict">;
  /** Whose there are, by user and agent, some hundred after the given one; none: that was the last. */
  list(after?: MemoryKey): Promise<readonly MemoryKey[]>;
}

/** An empty agent is the user's own memory. */
export interface MemoryKey {
  readonly userId: string;
  readonly agentName: string;
}

export interface MemoryRow {
  readonly revision: number;
  /** JSON text. */
  readonly document: string;
}

/** What a conversation is known by right after an answer: hashes only, which the next request is compared with. */
export interface NewMatch {
  /** Of the answer's record. */
  readonly seq: number;
  /** Of everything said so far. */
  readonly hash: string;
  /** Of the answer alone. */
  readonly answer: string;
  /** What several conversations of one program have in common, if it says so. */
  readonly group: string | null;
  /** Of what was sent beside the messages. */
  readonly fixed: string | null;
}

export interface MatchRow extends NewMatch {
  readonly threadId: string;
  /** Where the thread's log ends by now. */
  readonly version: number;
  /** When the thread last changed. */
  readonly updatedAt: string;
}

/**
 * Of the store's user. They are written by `append`, stay when a body is erased, and go with their thread; a fork has its
 * own, and takes over those of the records it shares when its parent goes.
 */
export interface MatchRows {
  /** In the order of the hashes given, of each the newest first, some hundred at most. */
  find(hashes: readonly string[]): Promise<readonly MatchRow[]>;
  /** The same answers in one thread or in one group, wherever they stand, in order of thread and place. */
  answers(within: MatchScope, answers: readonly string[]): Promise<readonly MatchRow[]>;
  /** The last answer of the group's thread that changed last. */
  newest(group: string): Promise<MatchRow | undefined>;
  /** All of a thread's own from one place to another, both included, in their order. */
  within(threadId: string, range: readonly [number, number]): Promise<readonly MatchRow[]>;
}

export type MatchScope = { readonly threadId: string } | { readonly group: string };

export interface KeyRows {
  /** `exists`: its id or its hash is taken. */
  put(key: KeyRow): Promise<"put" | "exists">;
  find(hash: string): Promise<KeyRow | undefined>;
  /** Whether one was ever made, even if it no longer holds. */
  any(): Promise<boolean>;
  /** By id, some hundred after the given one; none: that was the last. */
  list(after?: string): Promise<readonly KeyRow[]>;
  /** It stays listed. The first time counts. */
  revoke(id: string, at: string): Promise<"revoked" | "missing">;
}

export interface KeyRow {
  readonly id: string;
  /** SHA-256 of the key, in hexadecimal digits: the key itself is nowhere. */
  readonly hash: string;
  /** The key's first characters, by which a person knows it again. */
  readonly prefix: string;
  readonly user: string;
  /** `delegate`: may act for other users; `admin`: also for the gateway itself. */
  readonly role: "user" | "delegate" | "admin";
  /** ISO 8601. */
  readonly createdAt: string;
  /** Null: never. */
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
}

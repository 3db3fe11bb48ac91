// What a record, a head and a header hold; a store of your own keeps them.
export type { ChainedRecord, Head, LogRecord, ThreadHeader } from "@palimpsest/core/internal/log";
export { everyThread, everyUser } from "./driver-rules.ts";
export type { Leased, LeaseOptions } from "./leases.ts";
export { type OpenOptions, openStore } from "./open.ts";
export type { Job, JobEvent, JobStatus, JobWorker, NewJob, Outbox, WorkOptions } from "./outbox.ts";
export type {
  BlockMerging,
  IndexBatch,
  IndexedSegment,
  NewPosting,
  OrdinalRange,
  Posting,
  PostingCount,
  PostingPlace,
  SearchableStore,
  SearchEntry,
  SearchTables,
  Span,
} from "./search-tables.ts";
export type * from "./shared.ts";
export type { SqliteOptions } from "./sqlite/connection.ts";
export { openSqlite } from "./sqlite.ts";
export type * from "./store.ts";
export type { StoreErrorCode } from "./store-error.ts";
export { StoreError } from "./store-error.ts";

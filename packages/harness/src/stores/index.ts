// What a record, a head and a header hold; a store of your own keeps them.
export type { ChainedRecord, Head, LogRecord, ThreadHeader } from "@palimpsest/core/internal/log";
/** For drivers of your own: what every driver does alike. */
export * as driver from "./driver.ts";
export { everyThread, everyUser } from "./driver-rules.ts";
export type { Leased, LeaseOptions } from "./leases.ts";
export { type OpenOptions, openStore } from "./open.ts";
export type { Job, JobEvent, JobStatus, JobWorker, NewJob, Outbox, WorkOptions } from "./outbox.ts";
export type { IndexedSegment, SearchableStore, SearchTables } from "./search-tables.ts";
export type {
  AccountState,
  AccountUse,
  HeldRun,
  RunBatch,
  RunPage,
  Shared,
  SharedLimits,
  SharedRuns,
  Wakes,
} from "./shared.ts";
export type { SqliteOptions } from "./sqlite/connection.ts";
export { openSqlite } from "./sqlite.ts";
export type * from "./store.ts";
export type { StoreErrorCode } from "./store-error.ts";
export { StoreError } from "./store-error.ts";

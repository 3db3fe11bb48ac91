export type { Leased, LeaseOptions } from "./leases.ts";
export { withLease } from "./leases.ts";
export type {
  JobEvent,
  JobStatus,
  JobWorker,
  MemoryJob,
  MemoryJobs,
  NewMemoryJob,
  WorkOptions,
} from "./memory-jobs.ts";
export { type OpenOptions, openStore, storeTarget } from "./open.ts";
export type { SqliteOptions } from "./sqlite/connection.ts";
export { openSqlite } from "./sqlite.ts";
export type * from "./store.ts";
export type { StoreErrorCode } from "./store-error.ts";
export { StoreError } from "./store-error.ts";
export { asUser, everyThread, everyUser } from "./users.ts";

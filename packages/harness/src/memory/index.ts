export type { EraseDeps, ErasedMessage } from "./erase-message.ts";
export type { EmitMemory, MemoryEvent } from "./events.ts";
export type { Evidence, EvidenceRequest } from "./evidence.ts";
export { type FileStorageOptions, fileStorage } from "./file-storage.ts";
export type { ForgetRequest, ForgottenEverywhere } from "./forget-everywhere.ts";
export type { MemoryJob, MemoryPayload, MemoryTurn } from "./job.ts";
export type { OpenStorageOptions } from "./open-storage.ts";
export type { Drained, MemoryQueue, MemoryQueueOptions } from "./queue.ts";
export type { Changed, Edit, Repository } from "./repository.ts";
export type { MemoryPlace, MemoryScope, ScopeCheck, ScopeName } from "./scope.ts";
export type {
  Added,
  Edited,
  FactChange,
  Forgotten,
  Imported,
  MemoryService,
  MemoryServiceOptions,
  NewFact,
} from "./service.ts";
export {
  type MemoryStorage,
  MemoryStorageError,
  type MemoryStorageErrorCode,
  type SaveOptions,
  type SaveResult,
} from "./storage.ts";
export { storeStorage } from "./store-storage.ts";
export type { Extract, UpdateOutcome, Updater, UpdaterOptions } from "./updater.ts";

export type { EraseDeps, ErasedMessage } from "./erase-message.ts";
export type { EmitMemory, MemoryEvent } from "./events.ts";
export type { Evidence, EvidenceRequest } from "./evidence.ts";
export { type FileStorageOptions, fileStorage } from "./file-storage.ts";
export type { ForgetRequest, ForgottenEverywhere } from "./forget-everywhere.ts";
export type { MemoryJob, MemoryPayload, MemoryTurn } from "./job.ts";
export { type OpenStorageOptions, openStorage } from "./open-storage.ts";
export { createMemoryQueue, type Drained, type MemoryQueue, type MemoryQueueOptions } from "./queue.ts";
export { type Changed, type Edit, openRepository, type Repository } from "./repository.ts";
export type { MemoryPlace, MemoryScope, ScopeCheck, ScopeName } from "./scope.ts";
export {
  type Added,
  type Edited,
  type Forgotten,
  type Imported,
  type MemoryService,
  type MemoryServiceOptions,
  memoryService,
  type NewFact,
} from "./service.ts";
export {
  type MemoryStorage,
  MemoryStorageError,
  type MemoryStorageErrorCode,
  type SaveOptions,
  type SaveResult,
} from "./storage.ts";
export { storeStorage } from "./store-storage.ts";
export { createUpdater, type Extract, type UpdateOutcome, type Updater, type UpdaterOptions } from "./updater.ts";

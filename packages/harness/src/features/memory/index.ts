export type { OpenStorageOptions } from "./create-memory.ts";
export { storeStorage } from "./create-memory.ts";
export type { EraseDeps, ErasedMessage, ForgetRequest, ForgottenEverywhere } from "./erase-message.ts";
export type { Evidence, EvidenceRequest } from "./evidence.ts";
export { type FileStorageOptions, fileStorage } from "./file-storage.ts";
export type { Drained, MemoryJob, MemoryPayload, MemoryQueue, MemoryQueueOptions, MemoryTurn } from "./queue.ts";
export type { Changed, Edit, MemoryPlace, MemoryScope, Repository, ScopeCheck, ScopeName } from "./repository.ts";
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
export type { EmitMemory, MemoryEvent } from "./storage.ts";
export {
  type MemoryStorage,
  MemoryStorageError,
  type MemoryStorageErrorCode,
  type SaveOptions,
  type SaveResult,
} from "./storage.ts";
export type { Extract, UpdateOutcome, Updater, UpdaterOptions } from "./updater.ts";

export type { Evidence } from "./evidence.ts";
export { type FileStorageOptions, fileStorage } from "./file-storage.ts";
export type { MemoryPlace, MemoryScope } from "./repository.ts";
export type { MemoryService } from "./service.ts";
export type { EmitMemory, MemoryEvent } from "./storage.ts";
export {
  type MemoryStorage,
  MemoryStorageError,
  type MemoryStorageErrorCode,
  type SaveOptions,
  type SaveResult,
} from "./storage.ts";

export { type ExportFormat, exportThread } from "../export/export-thread.ts";
export type { ImportedConversation, ImportedMessage, Problem } from "./conversation.ts";
export type { ImportOptions, ImportOutcome, ImportProgress } from "./import-file.ts";
export { importFile } from "./import-file.ts";
export {
  type ArchiveLimits,
  type FileOutcome,
  type FolderOptions,
  type FolderOutcome,
  importFolder,
} from "./import-folder.ts";
export { readConversations } from "./read-conversations.ts";

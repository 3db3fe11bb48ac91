export { HISTORY, threadFolder } from "../home-folders.ts";
export type { BackgroundOptions } from "./background.ts";
export {
  type CompactedMessages,
  type CompactMessagesOptions,
  compactMessages,
  type MessagesState,
} from "./compact-messages.ts";
export type { Compactor, CompactorOptions, CompactRequest } from "./compactor.ts";
export { createCompactor } from "./compactor.ts";
export { configuredWriter } from "./configured-writer.ts";
export { type DraftTable, draftTable } from "./draft-table.ts";
export { type CompactionEvent, logLine, type OnCompactionEvent } from "./events.ts";
export { FloorError } from "./floor-error.ts";
export { type ModelSummarizeOptions, modelSummarize } from "./model-summarize.ts";
export { createModelWriter, type ModelWriterOptions } from "./model-writer.ts";
export { archivePath, ensureParts, type PartFault, repairParts } from "./part-files.ts";
export {
  type CachedPrefix,
  type Summarize,
  SummarizeError,
  type SummaryAnswer,
  type SummaryRequest,
  type SummaryUsage,
  summarizeBy,
} from "./summarize.ts";
export type { SummaryFailure, SummaryJob, SummaryResult, SummaryWriter } from "./summary-writer.ts";
export type { ThreadCompaction, ThreadOutcome } from "./thread-compactor.ts";
export { compactThread, historyFolder } from "./thread-compactor.ts";

export type { BackgroundOptions, OpenBackground } from "./background.ts";
export type { Compactor, CompactorOptions, CompactRequest } from "./compactor.ts";
export type { DraftTable } from "./draft-table.ts";
export type { CompactionEvent, OnCompactionEvent } from "./events.ts";
export { FloorError } from "./floor-error.ts";
export { type ModelSummarizeOptions, modelSummarize } from "./model-summarize.ts";
export { createModelWriter, type ModelWriterOptions } from "./model-writer.ts";
export type { PartFault } from "./part-files.ts";
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

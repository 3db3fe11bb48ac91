export type { Compactor, CompactorOptions, CompactRequest } from "./compactor.ts";
export type { BackgroundOptions, DraftTable, OpenBackground } from "./drafts.ts";
export { type ModelSummarizeOptions, modelSummarize } from "./model-summarize.ts";
export { createModelWriter, type ModelWriterOptions } from "./model-writer.ts";
export type { PartFault } from "./part-files.ts";
export type { CompactionEvent, OnCompactionEvent } from "./summarization.ts";
export { FloorError } from "./summarization.ts";
export type { SummaryFailure, SummaryJob, SummaryResult, SummaryWriter } from "./summarize.ts";
export {
  type CachedPrefix,
  type Summarize,
  SummarizeError,
  type SummaryAnswer,
  type SummaryRequest,
  type SummaryUsage,
  summarizeBy,
} from "./summarize.ts";

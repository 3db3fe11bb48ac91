export type { Compactor, CompactorOptions, CompactRequest } from "./compactor.ts";
export { createCompactor, FloorError } from "./compactor.ts";
export { type CompactionEvent, logLine, type OnCompactionEvent } from "./events.ts";
export { archivePath, ensureParts, HISTORY } from "./part-files.ts";
export type { SummaryFailure, SummaryJob, SummaryResult, SummaryWriter } from "./summary-writer.ts";

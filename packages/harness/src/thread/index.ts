export type { OverflowEvent, ThreadEvent } from "../compaction/events.ts";
export { rebuildIndex } from "../recall/catch-up.ts";
export type { EmbeddingEvent, OnEmbedding } from "../recall/embedder.ts";
export { type Indexing, type IndexingEvent, type IndexingOptions, startIndexing } from "../recall/indexing.ts";
export type { SearchCover, SearchHit, SearchOutcome, SearchSettings } from "../recall/search.ts";
export { searchAll, searchThread } from "../recall/search.ts";
export type { IndexProgress } from "../recall/stored-index.ts";
export type { NewMessage, NewUsage } from "./acts.ts";
export { appendMessages } from "./acts.ts";
export { type Verified, verify } from "./audit.ts";
export { type CopyOptions, type CopyProgress, type CopyReport, copyStore } from "./copy.ts";
export type { FixedRequest } from "./fixed-request.ts";
export type { ThreadActs } from "./handle.ts";
export type { GivenMessage, IdentifiedMessage } from "./log.ts";
export {
  type CallAnswer,
  type OpenedThread,
  type OpenThread,
  type OpenThreadOptions,
  openThread,
  type PromptRequest,
  type ProviderUsage,
  type Reported,
  type ReportedUsage,
  type ReportOptions,
  type ThreadChanges,
  type ThreadPrompt,
  type WriteAlso,
} from "./open-thread.ts";
export { type Redacted, type RedactOptions, redact } from "./redact.ts";
export { type InspectedPrompt, type PromptOptions, threadPrompt } from "./sized-thread.ts";
export { type ThreadTool, type ThreadTools, threadTools } from "./thread-tools.ts";
export type { PromptCache } from "./window.ts";
export type { ThreadError, ThreadErrorCode } from "./writer.ts";
export {
  type Committed,
  type NewThread,
  type RecordInput,
  type ThreadDeps,
  threadDeps,
  type Writer,
} from "./writer.ts";

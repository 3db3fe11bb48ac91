export type { CompactionEvent, OnCompactionEvent } from "../compaction/events.ts";
export { createModelWriter, type ModelWriterOptions } from "../compaction/model-writer.ts";
export { FloorError } from "../compaction/summarization.ts";
export type { SummaryWriter } from "../compaction/summarize.ts";
export {
  type Summarize,
  SummarizeError,
  type SummaryAnswer,
  type SummaryRequest,
  summarizeBy,
} from "../compaction/summarize.ts";
export {
  type CompactedMessages,
  compactMessages,
  type MessagesOutcome,
  type WriterFailure,
} from "./compact-messages.ts";
export {
  createMessageCompactor,
  type MessageCompactor,
  type MessageCompactorOptions,
  type MessageSearch,
} from "./message-compactor.ts";
export type { CompactMessagesOptions, MessagesCounter, MessagesPruning, MessagesSummarizer } from "./options.ts";
export { type MessagesState, type MessagesUsage, type Recognized, StateMismatchError } from "./state.ts";

export type { CompactionEvent, OnCompactionEvent } from "../compaction/summarization.ts";
export { FloorError } from "../compaction/summarization.ts";
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
export type { Mark } from "./state.ts";
export { type MessagesState, type MessagesUsage, type Recognized, StateMismatchError } from "./state.ts";

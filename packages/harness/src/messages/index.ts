export type { CompactionEvent, OnCompactionEvent } from "../compaction/events.ts";
export { FloorError } from "../compaction/events.ts";
export {
  type CompactedMessages,
  compactMessages,
  type MessagesOutcome,
  type WriterFailure,
} from "./compact-messages.ts";
export {
  createMessageCompactor,
  type FoundMessage,
  type MessageCompactor,
  type MessageCompactorOptions,
} from "./message-compactor.ts";
export type { CompactMessagesOptions, MessagesCounter, MessagesPruning, MessagesSummarizer } from "./options.ts";
export type { Mark } from "./state.ts";
export { type MessagesState, type MessagesUsage, type Recognized, StateMismatchError } from "./state.ts";

export {
  type CompactedMessages,
  type CompactMessagesOptions,
  compactMessages,
  type MessagesState,
} from "./compact-messages.ts";

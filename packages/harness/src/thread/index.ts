export type { OverflowEvent, ThreadEvent } from "./asked-model.ts";
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
export { type ThreadTool, type ThreadTools, threadTools } from "./thread-tools.ts";
export type { PromptCache } from "./window.ts";
export type { ThreadError, ThreadErrorCode } from "./writer.ts";

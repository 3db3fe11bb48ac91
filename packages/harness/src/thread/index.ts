export type { FixedRequest } from "./fixed-request.ts";
export type { ThreadActs } from "./handle.ts";
export type { GivenMessage, IdentifiedMessage, ThreadError, ThreadErrorCode } from "./log.ts";
export { type OpenedThread, type OpenThreadOptions, openThread } from "./open-thread.ts";
export type { OverflowEvent, ThreadEvent } from "./session.ts";
export type {
  CallAnswer,
  OpenThread,
  PromptRequest,
  ProviderUsage,
  Reported,
  ReportedUsage,
  ReportOptions,
  ThreadChanges,
  ThreadPrompt,
  WriteAlso,
} from "./thread-session.ts";
export { type ThreadTool, type ThreadTools, threadTools } from "./thread-tools.ts";
export type { PromptCache } from "./window.ts";

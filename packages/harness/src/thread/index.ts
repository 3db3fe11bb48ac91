export type { GivenMessage, IdentifiedMessage } from "./body.ts";
export type { FixedRequest } from "./fixed-request.ts";
export { type OpenedThread, type OpenThreadOptions, openThread } from "./open-thread.ts";
export type { PromptCache } from "./prompt-cache.ts";
export type { OverflowEvent, ThreadEvent } from "./session.ts";
export type { ThreadError, ThreadErrorCode } from "./thread-error.ts";
export type {
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

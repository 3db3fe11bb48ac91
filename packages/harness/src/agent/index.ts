export type { ToolAct, ToolFacts } from "@palimpsest/core/internal/message";
// By this the events, ends and error codes of our own features are in the types of whoever imports this.

export type { RequestParameters } from "../thread/fixed-request.ts";
export { describeTool } from "../tool-facts.ts";
export type { Agent, AgentOptions, CompactOptions } from "./agent.ts";
export { createAgent } from "./agent.ts";
export type { Approved, ToolApproval, WaitingCall } from "./approval.ts";
export type { MessagesOptions, RespondOptions } from "./chat/respond.ts";
export type { AgentErrorCode } from "./errors.ts";
export { AgentError } from "./errors.ts";
export type { AgentEvent, ClientCall, RunEnd, RunResult, StepEvent, StepUsage } from "./events.ts";
export type { RunInput } from "./execute.ts";
export type * from "./features.ts";
export type { ModelRequest, PromptSection } from "./fixed-part.ts";
export type { EditInput, RegenerateInput } from "./fork.ts";
export type { OutputSpec } from "./input.ts";
export type { CallSettings, ModelObject, ModelOptions, Summarizer } from "./model.ts";
export { type PastRequest, pastRequest, type SentRequest } from "./past-request.ts";
export type { AskModel, CarryOut, CompactionSetup, Middleware, RetryPolicy, Run, RunBudget, RunFacts } from "./run.ts";
export type { Answered, StepOutcome } from "./step.ts";
export type { AgentStream } from "./stream.ts";
export type { ThreadHandle } from "./thread-handle.ts";
export type { CallOutcome, ToolCall } from "./tools.ts";
export { getRun, type RunContext, type ToolRun } from "./tools.ts";
export type { UIStreamOptions } from "./ui/ui-stream.ts";

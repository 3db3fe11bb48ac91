export { clarification } from "./clarification.ts";
export { compactTool } from "./compact-tool.ts";
export { danglingCalls } from "./dangling-calls.ts";
export { type RecallOptions, recall } from "./recall.ts";
export { type SubagentsOptions, subagents } from "./subagents.ts";
export type { SummarizationMiddlewareOptions } from "./summarization.ts";
export { summarization, summarizationWith } from "./summarization.ts";
export { threadData } from "./thread-data.ts";
export { type TitleOptions, title } from "./title.ts";

export type { SummarizationMiddlewareOptions } from "../compaction/middleware.ts";
export { compactTool, summarization } from "../compaction/middleware.ts";
export { type MemoryMiddlewareOptions, memory } from "../features/memory/middleware.ts";
export { type SkillsOptions, skills } from "../features/skills/middleware.ts";
export { type SubagentsOptions, subagents } from "../features/subagents/middleware.ts";
export { type ToolOutputOptions, toolOutput } from "../features/tool-output/middleware.ts";
export {
  type ViewImageOptions,
  viewImage,
  type WorkspaceOptions,
  workspaceFiles,
} from "../features/workspace/middleware.ts";
export {
  clarification,
  danglingCalls,
  loopGuard,
  type RecallOptions,
  recall,
  type TitleOptions,
  threadData,
  title,
  todos,
} from "./basics.ts";

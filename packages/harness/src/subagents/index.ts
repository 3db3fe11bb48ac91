export { type SubagentEvent, subagentLogLines } from "./events.ts";
export { settleInterrupted } from "./interrupted.ts";
export { type Pruned, type PruneOptions, pruneSubagents } from "./prune.ts";
export type { SubagentResult, SubagentStatus } from "./result.ts";
export type { SubagentLimits, SubagentModel, SubagentSpec } from "./spec.ts";
export { type TreeUsage, treeUsage } from "./usage.ts";

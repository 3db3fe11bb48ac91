export { type SubagentEvent, subagentLogLines } from "./events.ts";
export type { Pruned, PruneOptions } from "./prune.ts";
export type { SubagentResult, SubagentStatus } from "./result.ts";
export type { SubagentLimits, SubagentModel, SubagentSpec } from "./spec.ts";
export { type TreeUsage, treeUsage } from "./usage.ts";

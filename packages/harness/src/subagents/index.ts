export type { Pruned, PruneOptions } from "./delegations.ts";
export type { SubagentResult, SubagentStatus } from "./result.ts";
export { type SubagentEvent, subagentLogLines, type TreeUsage, treeUsage } from "./result.ts";
export type { SubagentLimits, SubagentModel, SubagentSpec } from "./spec.ts";

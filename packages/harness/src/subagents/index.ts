export { type AnswerFolder, answerFiles, type KeepAnswer } from "./answer-files.ts";
export { type Delegation, delegationsOf } from "./delegations.ts";
export { type SubagentEvent, subagentLogLines } from "./events.ts";
export { createGate, type Gate } from "./gate.ts";
export { settleInterrupted } from "./interrupted.ts";
export { type Pruned, type PruneOptions, pruneSubagents } from "./prune.ts";
export type { SubagentResult, SubagentStatus } from "./result.ts";
export { workspaceFor } from "./shared-workspace.ts";
export type { SubagentLimits, SubagentModel, SubagentSpec } from "./spec.ts";

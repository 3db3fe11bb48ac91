export type { SubagentResult, SubagentStatus } from "./result.ts";
export { type SubagentEvent, subagentLogLines } from "./result.ts";
export type { SubagentLimits, SubagentModel, SubagentSpec } from "./spec.ts";

export { type Boundary, boundaries } from "./boundaries.ts";
export type { Reach } from "./choice.ts";
export { entrySize, type Measure } from "./clamp.ts";
export type { CompactionOutcome } from "./outcome.ts";
export {
  type CompactPlan,
  type Cut,
  type Floor,
  type Plan,
  type PlanInput,
  planCompaction,
} from "./plan.ts";
export {
  isCeilings,
  type Keep,
  keepProblems,
  type Limits,
  limitsOf,
  type Policy,
  policyProblems,
  type Threshold,
  type Window,
} from "./policy.ts";
export { inputText, messageText } from "./prune/part-text.ts";
export type { PruneRung } from "./prune/rung.ts";
export {
  coveredBy,
  draftsOf,
  extractState,
  quote,
  reasonText,
  renderState,
  type StateLines,
  type SummaryInput,
  storedSummary,
  type WrittenSummary,
} from "./records.ts";
export { behindSummary } from "./tail.ts";
export { checkTrigger, type Growth } from "./trigger.ts";

export { reasonText, type StateLines, type SummaryInput, type WrittenSummary } from "./apply.ts";
export type { PlanGoal } from "./choice.ts";
export type { Floor } from "./collapse.ts";
export type { Boundary, Cut } from "./cut.ts";
export type { CompactionOutcome } from "./outcome.ts";
export {
  type CompactPlan,
  type Plan,
  type PlanOptions,
  planCompaction,
} from "./plan.ts";
export type { Growth } from "./policy.ts";
export {
  type Keep,
  keepProblems,
  type Limits,
  type Policy,
  policyProblems,
  type Threshold,
  type Window,
} from "./policy.ts";
export type { PruneRung } from "./prune.ts";

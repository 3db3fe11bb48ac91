export { type Boundary, boundaries } from "./boundaries.ts";
export { clampText, type Measure } from "./clamp.ts";
export type { CompactionOutcome } from "./outcome.ts";
export {
  type CompactPlan,
  type Cut,
  type Floor,
  type Plan,
  type PlanInput,
  planCompaction,
  STUB_TOKENS,
} from "./plan.ts";
export {
  type Keep,
  type Limits,
  limitsOf,
  type Policy,
  policyProblems,
  type Threshold,
  type Window,
} from "./policy.ts";
export { checkTrigger } from "./trigger.ts";

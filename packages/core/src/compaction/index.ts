export { type Boundary, boundaries } from "./boundaries.ts";
export { clampText, type Measure } from "./clamp.ts";
export type { CompactionOutcome } from "./outcome.ts";
export { inputText, messageText } from "./part-text.ts";
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
export { decidePrune, PRUNE_DEFAULTS, type PruneDecision, type PruneOptions, type PrunePolicy } from "./prune.ts";
export type { PrunableEntry } from "./prune-candidates.ts";
export { checkTrigger } from "./trigger.ts";

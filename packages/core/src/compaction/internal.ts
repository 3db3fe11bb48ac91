/** What our own packages use of this folder. What is public of it is in `../index.ts`. */
export {
  type Applied,
  applyPlan,
  applyUntilFits,
  type Covered,
  coveredBy,
  coveredIn,
  extractState,
  type Fitted,
  NO_FEEDBACK,
  NO_OWN_WORDS,
  type PlanFeedback,
  reasonText,
  renderState,
  type StateLines,
  type SummaryInput,
  stateOf,
  storedSummary,
  type WrittenSummary,
} from "./apply.ts";
export type { PlanGoal } from "./choice.ts";
export type { Floor } from "./collapse.ts";
export type { Boundary, Cut } from "./cut.ts";
export { behindSummary, boundaries } from "./cut.ts";
export type { CompactionOutcome } from "./outcome.ts";
export { type CompactPlan, type Plan, type PlanOptions, planCompaction } from "./plan.ts";
export type { Growth } from "./policy.ts";
export {
  grownSince,
  isCeilings,
  type Keep,
  keepProblems,
  type Limits,
  lastAct,
  leastSaved,
  limitsOf,
  type Policy,
  policyProblems,
  type ShortenedRequest,
  shortenedRequest,
  type Threshold,
  usableWindow,
  type Window,
} from "./policy.ts";
export type { PruneRung } from "./prune.ts";

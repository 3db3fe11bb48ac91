/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { type Applied, applyPlan, applyUntilFits, type Fitted, NO_FEEDBACK, type PlanFeedback } from "./apply.ts";
export { boundaries } from "./cut.ts";
export { behindSummary } from "./cut-sizes.ts";
export { isCeilings, isPromise, limitsOf, usableWindow } from "./policy.ts";
export { cutMarks } from "./prune/cut-marks.ts";
export { inputText, messageText } from "./prune/part-text.ts";
export {
  type Covered,
  coveredBy,
  coveredIn,
  extractState,
  NO_OWN_WORDS,
  quote,
  renderState,
  storedSummary,
} from "./records.ts";
export { grownSince, lastAct } from "./trigger.ts";

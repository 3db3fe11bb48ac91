/** What our own packages use of this folder beyond its public names. No promise is made about it. */
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
  quote,
  renderState,
  storedSummary,
} from "./apply.ts";
export { behindSummary, boundaries } from "./cut.ts";
export { grownSince, isCeilings, isPromise, lastAct, leastSaved, limitsOf, usableWindow } from "./policy.ts";
export { inputText, messageText } from "./prune-replacement.ts";

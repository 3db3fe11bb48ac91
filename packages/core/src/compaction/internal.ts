/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { type Applied, applyPlan, applyUntilFits, type Fitted, NO_FEEDBACK, type PlanFeedback } from "./apply.ts";
export { boundaries } from "./cut.ts";
export { behindSummary } from "./cut-sizes.ts";
export { isCeilings, limitsOf, usableWindow } from "./policy.ts";
export { cutMarks } from "./prune/cut-marks.ts";
export { inputText, messageText } from "./prune/part-text.ts";
export { coveredBy, extractState, quote, storedSummary } from "./records.ts";
export { grownSince, lastAct } from "./trigger.ts";

/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { entrySize } from "./clamp.ts";
export { isCeilings, limitsOf } from "./policy.ts";
export { inputText, messageText } from "./prune/part-text.ts";
export { coveredBy, draftsOf, extractState, quote, renderState, storedSummary } from "./records.ts";
export { behindSummary } from "./tail.ts";

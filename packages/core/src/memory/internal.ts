/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export {
  bindTurns,
  isBound,
  isFenced,
  namedRefs,
  staleRefs,
  validWatermark,
  withoutStale,
  withoutThread,
  withWatermark,
} from "./bindings.ts";
export {
  type AnsweredQuestion,
  applyChanges,
  type Correction,
  correctionOf,
  correctionsIn,
  namesOldValue,
  planMemoryUndo,
} from "./changes.ts";
export { clampConfidence, sectionText } from "./document.ts";
export { erasedFacts, planMemoryErasure } from "./erase.ts";
export { asksNothing, checkWords, MAX_FACT_CHARACTERS, mayBecomeRule } from "./gates.ts";
export { meaning, saysTheSame } from "./likeness.ts";
export { escapeLine, visible } from "./render.ts";
export { extractInput } from "./update.ts";

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
export { applyChanges, planMemoryUndo } from "./changes.ts";
export { type AnsweredQuestion, type Correction, correctionOf, correctionsIn, namesOldValue } from "./corrections.ts";
export { clampConfidence, sectionText } from "./document.ts";
export { erasedFacts, planMemoryErasure } from "./erase.ts";
export { escapeLine, visible } from "./escape.ts";
export { extractInput } from "./extract-input.ts";
export { checkWords, MAX_FACT_CHARACTERS } from "./gates.ts";
export { meaning, saysTheSame } from "./likeness.ts";
export { asksNothing } from "./statements.ts";

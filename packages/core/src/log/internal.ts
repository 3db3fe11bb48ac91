/** What our own packages use of this folder beyond its public names. No promise is made about it. */

export { applyPrune, applyPrunes, shownFolds, summaryEdits } from "./apply-prune.ts";
export { chain, link } from "./chain.ts";
export { hiddenParts, planFold, planHide, planShow } from "./folds.ts";
export { advance, applyDelta, chainAfter, deltaOf, emptyHead, headFold, storedState } from "./head.ts";
export { NOTE_LIMITS, readNotes, renderNotes, writeNote } from "./notes.ts";
export { erase, erasedState, isQuoted, memoryText, skeleton, withoutEchoes } from "./redact.ts";
export {
  addRule,
  copyRules,
  editRule,
  endRule,
  NO_RULES,
  REDACTED,
  RULE_LIMITS,
  readRules,
  recognizeRules,
  renderRules,
  restoreRule,
  rulesInForce,
  rulesKey,
  withoutEnded,
} from "./rules.ts";
export {
  liveAfter,
  liveAfterAll,
  liveRecords,
  NOTHING_LIVE,
  planRedo,
  planUndo,
  STRUCTURAL_KINDS,
  sent,
  structural,
  viewAfter,
} from "./structure.ts";
export { shownSummary, view } from "./view.ts";

/** What our own packages use of this folder beyond its public names. No promise is made about it. */

export { applyPrune, shownFolds } from "./apply-prune.ts";
export { chain, link } from "./chain.ts";
export { applyDelta, deltaOf } from "./delta.ts";
export { hiddenParts, planFold, planHide, planShow } from "./folds.ts";
export { advance, chainAfter, emptyHead, headFold, storedState } from "./head.ts";
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
} from "./rules.ts";
export {
  liveAfter,
  liveAfterAll,
  liveRecords,
  NOTHING_LIVE,
  planRedo,
  planUndo,
  STRUCTURAL_KINDS,
  structural,
  viewAfter,
} from "./structure.ts";
export { sent, view } from "./view.ts";

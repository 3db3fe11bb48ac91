/** What our own packages use of this folder. What is public of it is in `../index.ts`. */

export { applyPrune, applyPrunes, SUMMARY_END, summaryEdits } from "./apply-prune.ts";
export type { ChainedRecord, Hash, NewRecord, RecordHeader } from "./chain.ts";
export {
  chain,
  checkThreadId,
  checkUser,
  DEFAULT_USER,
  link,
  parseHeader,
  parseRecord,
  type ThreadName,
} from "./chain.ts";
export type { ChosenCut, FoldReport, ShowPlan } from "./folds.ts";
export { isRequest, planFold, planHide, planShow, readReports } from "./folds.ts";
export type { Delta, Head, Json, StateChain } from "./head.ts";
export { advance, applyDelta, chainAfter, deltaOf, emptyHead, headFold, storedState } from "./head.ts";
export type { Note, NoteChange, NoteWrite } from "./notes.ts";
export { readNotes, writeNote } from "./notes.ts";
export type * from "./record.ts";
export { FORMAT_VERSION } from "./record.ts";
export type { Erasure, Rewrite } from "./redact.ts";
export {
  erase,
  erasedState,
  flatSteps,
  isQuoted,
  memoryText,
  quoteFinder,
  skeleton,
  withoutEchoes,
} from "./redact.ts";
export type { Rule, RuleChange, RuleList, RulesByScope } from "./rules.ts";
export {
  addRule,
  copyRules,
  editRule,
  endRule,
  liftedIn,
  liftRules,
  NO_RULES,
  REDACTED,
  readRules,
  recognizeRules,
  renderRules,
  restoreRule,
  rulesInForce,
  rulesKey,
  withoutEnded,
} from "./rules.ts";
export type { Folded, Structural, UndoPlan } from "./structure.ts";
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
  viewAct,
  viewAfter,
} from "./structure.ts";
export type { ThreadHeader } from "./thread-header.ts";
export type { ChainFlaw, RedactedEvent, Verdict } from "./verify.ts";
export { chainVerifier, isRedactedEvent } from "./verify.ts";
export type { LiveRecords, MessageSource, ViewEntry, ViewOptions, ViewSource } from "./view.ts";
export { shownSummary, view } from "./view.ts";

export { SUMMARY_END } from "./apply-prune.ts";
export type { ChainedRecord, Hash, NewRecord, RecordHeader, ThreadIdCheck } from "./chain.ts";
export {
  checkThreadId,
  checkUser,
  DEFAULT_USER,
  parseHeader,
  parseRecord,
  RecordError,
  type ThreadName,
} from "./chain.ts";
export type { ChosenCut, CutRefusal, ShowPlan } from "./folds.ts";
export type { Delta, Head, HeadFold, Json, StateChain } from "./head.ts";
export type { Note, NoteChange, NoteRefusal, NoteWrite } from "./notes.ts";
export type * from "./record.ts";
export { FORMAT_VERSION } from "./record.ts";
export type { Erasure, Rewrite } from "./redact.ts";
export type { Rule, RuleChange, RuleList, RuleRefusal, RuleScope, RulesByScope } from "./rules.ts";
export type { Folded, LiveStructure, Structural, UndoPlan } from "./structure.ts";
export type { ThreadHeader } from "./thread-header.ts";
export type { ChainFlaw, ChainVerifier, RedactedEvent, Verdict } from "./verify.ts";
export { chainVerifier } from "./verify.ts";
export type { LiveRecords, MessageSource, ViewEntry, ViewOptions, ViewSource } from "./view.ts";

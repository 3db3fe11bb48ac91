/** What our own packages use of this folder. What is public of it is in `../index.ts`. */

export { redactSecrets } from "../text/secrets.ts";
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
export type { Change, ChangeKind, NewChange, Stamp, Undo } from "./changes.ts";
export {
  type AnsweredQuestion,
  applyChanges,
  type Correction,
  correctionOf,
  correctionsIn,
  namesOldValue,
  planMemoryUndo,
} from "./changes.ts";
export {
  clampConfidence,
  emptyDocument,
  type Fact,
  liveFacts,
  type MemoryDocument,
  parseDocument,
  readDocument,
  SECTION_PATHS,
  type SectionPath,
  sectionText,
  writeDocument,
} from "./document.ts";
export type { MemoryErasure } from "./erase.ts";
export { erasedFacts, planMemoryErasure } from "./erase.ts";
export type { Refusal, RefusalReason } from "./gates.ts";
export { asksNothing, checkWords, MAX_FACT_CHARACTERS, mayBecomeRule } from "./gates.ts";
export { asksToForget } from "./grounds.ts";
export { meaning, sayingTheSameAs, saysTheSame } from "./likeness.ts";
export { mergeUpdate } from "./merge.ts";
export { escapeLine, extractionPrompt, renderMemory, visible } from "./render.ts";
export type { SourceTurn } from "./update.ts";
export { extractInput, type MemoryUpdate, parseUpdate } from "./update.ts";

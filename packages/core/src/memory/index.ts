export {
  bindTurns,
  isBound,
  isFenced,
  namedRefs,
  staleRefs,
  standingWatermark,
  withoutStale,
  withoutThread,
  withWatermark,
} from "./bindings.ts";
export {
  applyChanges,
  type Change,
  type ChangeKind,
  type NewChange,
  planUndo,
  type Stamp,
  type Undo,
} from "./changes.ts";
export {
  clampConfidence,
  emptyDocument,
  type Fact,
  liveFacts,
  type MemoryDocument,
  parseDocument,
  type ReadDocument,
  readDocument,
  SECTION_PATHS,
  type SectionPath,
  sectionText,
  writeDocument,
} from "./document.ts";
export {
  erasedFacts,
  type MemoryErasure,
  type MemoryErasureRequest,
  planMemoryErasure,
} from "./erase.ts";
export { escapeLine, visible } from "./escape.ts";
export { type ExtractInput, type ExtractOptions, extractInput, type SourceTurn } from "./extract-input.ts";
export { MAX_FACT_CHARACTERS, type Refusal, type RefusalReason } from "./gates.ts";
export { meaning, saysTheSame } from "./likeness.ts";
export { type MergedUpdate, type MergeRules, mergeUpdate } from "./merge.ts";
export { EXTRACTION_PROMPT_VERSION, type ExtractionPrompt, extractionPrompt } from "./prompt.ts";
export { type RedactedText, redactSecrets, type SecretKind } from "./redact.ts";
export { type RenderedMemory, type RenderMemoryOptions, renderMemory } from "./render.ts";
export { type MemoryUpdate, type ParsedUpdate, parseUpdate } from "./update.ts";

export { type RedactedText, redactSecrets, type SecretKind } from "../text/secrets.ts";
export type { Change, ChangeKind, NewChange, Stamp, Undo } from "./changes.ts";
export {
  emptyDocument,
  type Fact,
  liveFacts,
  type MemoryDocument,
  parseDocument,
  type ReadDocument,
  readDocument,
  SECTION_PATHS,
  type SectionPath,
  writeDocument,
} from "./document.ts";
export type { MemoryErasure, MemoryErasureRequest } from "./erase.ts";
export type { Refusal, RefusalReason } from "./gates.ts";
export { type MergedUpdate, type MergeRules, mergeUpdate } from "./merge.ts";
export {
  type ExtractionPrompt,
  extractionPrompt,
  type RenderedMemory,
  type RenderMemoryOptions,
  renderMemory,
} from "./render.ts";
export type { ExtractInput, ExtractOptions, SourceTurn } from "./update.ts";
export { type MemoryUpdate, type ParsedUpdate, parseUpdate } from "./update.ts";

export { type Chunk, type Chunked, type ChunkOptions, chunkMessages } from "./chunk.ts";
export { type ExtractOptions, extractSummary } from "./extract.ts";
export { failingLines, isFailingLine } from "./failing-lines.ts";
export { type Entry, extendLedger } from "./ledger.ts";
export { LEDGER_FILE, ledgerText } from "./ledger-lines.ts";
export type { CommandEntry, CommitEntry, FileEntry, Ledger } from "./ledger-state.ts";
export { createLocator, type Locate } from "./locate.ts";
export { mediaName } from "./media-name.ts";
export { type DropReason, type Merged, type MergeOptions, mergePatch } from "./merge.ts";
export { NOWHERE, type Originals, RECALL } from "./originals.ts";
export { type ParsedPatch, parsePatch, type SummaryPatch } from "./patch.ts";
export type { Pin } from "./pins.ts";
export {
  PATCH_PROMPT_VERSION,
  PATCH_SCHEMA,
  type PatchPrompt,
  type PatchPromptOptions,
  patchPrompt,
} from "./prompts/patch.ts";
export { PROSE_PROMPT_VERSION, type ProsePromptOptions, prosePrompt } from "./prompts/prose.ts";
export { type SettledProse, settleProse } from "./prose.ts";
export { type RenderedSummary, type RenderOptions, renderSummary } from "./render.ts";
export { type ShortOptions, wordRoom } from "./short.ts";
export {
  emptyState,
  type ItemStatus,
  readState,
  SECTIONS,
  type Section,
  type SummaryItem,
  type SummaryState,
} from "./state.ts";
export { probes, terms } from "./terms.ts";
export { renderTranscript } from "./transcript.ts";
export { type InvalidReason, type SummaryVerdict, type ValidateOptions, validateSummary } from "./validate.ts";

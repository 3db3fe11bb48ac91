export { failingLines, isFailingLine } from "../text/failing-lines.ts";
export { probes, terms } from "../text/terms.ts";
export { type ExtractOptions, extractSummary } from "./extract/extract.ts";
export { createLocator, type Locate } from "./extract/locate.ts";
export { type Entry, extendLedger } from "./ledger/ledger.ts";
export { LEDGER_FILE, ledgerText } from "./ledger/ledger-lines.ts";
export type { CommandEntry, CommitEntry, FileEntry, Ledger } from "./ledger/ledger-state.ts";
export { type Chunk, type Chunked, type ChunkOptions, chunkMessages } from "./prompts/chunk.ts";
export {
  PATCH_PROMPT_VERSION,
  PATCH_SCHEMA,
  type PatchPrompt,
  type PatchPromptOptions,
  patchPrompt,
} from "./prompts/patch.ts";
export { PROSE_PROMPT_VERSION, type ProsePromptOptions, prosePrompt } from "./prompts/prose.ts";
export { renderTranscript } from "./prompts/transcript.ts";
export { mediaName } from "./render/media-name.ts";
export { NOWHERE, type Originals, RECALL } from "./render/originals.ts";
export type { Pin } from "./render/pins.ts";
export { type RenderedSummary, type RenderOptions, renderSummary } from "./render/render.ts";
export { type ShortOptions, wordRoom } from "./render/short.ts";
export { type DropReason, type Merged, type MergeOptions, mergePatch } from "./state/merge.ts";
export { type ParsedPatch, parsePatch, type SummaryPatch } from "./state/patch.ts";
export { type SettledProse, settleProse } from "./state/prose.ts";
export {
  emptyState,
  type ItemStatus,
  readState,
  SECTIONS,
  type Section,
  type SummaryItem,
  type SummaryState,
} from "./state/state.ts";
export { type InvalidReason, type SummaryVerdict, type ValidateOptions, validateSummary } from "./state/validate.ts";

export { type ExtractOptions, extractSummary } from "./extract/extract.ts";
export type { Locate } from "./extract/locate.ts";
export type { NumberedMessage } from "./ledger/ledger.ts";
export type { CommandEntry, CommitEntry, FileEntry, Ledger } from "./ledger/ledger-state.ts";
export type { Chunk, Chunked, ChunkOptions } from "./prompts/chunk.ts";
export type { PatchPrompt, PatchPromptOptions } from "./prompts/patch.ts";
export type { ProsePromptOptions } from "./prompts/prose.ts";
export type { Originals } from "./render/originals.ts";
export type { Pin } from "./render/pins.ts";
export { type RenderedSummary, type RenderOptions, renderSummary } from "./render/render.ts";
export type { ShortOptions } from "./render/short.ts";
export type { DropReason, Merged, MergeOptions } from "./state/merge.ts";
export type { ParsedPatch, SummaryPatch } from "./state/patch.ts";
export type { NeutralProse } from "./state/prose.ts";
export {
  emptyState,
  type ItemStatus,
  readState,
  SECTIONS,
  type SummaryItem,
  type SummarySection,
  type SummaryState,
} from "./state/state.ts";
export type { InvalidReason, SummaryVerdict, ValidateOptions } from "./state/validate.ts";

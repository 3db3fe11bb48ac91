export { type ExtractOptions, extractSummary } from "./extract.ts";
export type { Locate } from "./gather.ts";
export type { NumberedMessage } from "./ledger.ts";
export type { CommandEntry, CommitEntry, FileEntry, Ledger } from "./ledger-lines.ts";
export type {
  InvalidReason,
  NeutralProse,
  ParsedPatch,
  SummaryPatch,
  SummaryVerdict,
  ValidateOptions,
} from "./patch.ts";
export type { PatchPrompt, PatchPromptOptions } from "./prompts/patch.ts";
export type { ProsePromptOptions } from "./prompts/prose.ts";
export type { Chunk, Chunked, ChunkOptions } from "./prompts/transcript.ts";
export { type RenderedSummary, type RenderOptions, renderSummary } from "./render.ts";
export type { Originals, Pin, ShortOptions } from "./render-lines.ts";
export type { DropReason, Merged, MergeOptions } from "./state.ts";
export {
  emptyState,
  type ItemStatus,
  readState,
  SECTIONS,
  type SummaryItem,
  type SummarySection,
  type SummaryState,
} from "./state.ts";

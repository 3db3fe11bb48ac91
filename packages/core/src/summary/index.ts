export { type ExtractOptions, extractSummary } from "./extract.ts";
export { exitCode, failingLines } from "./failing-lines.ts";
export { type Entry, extendLedger } from "./ledger.ts";
export { type CommandEntry, type CommitEntry, emptyLedger, type FileEntry, type Ledger } from "./ledger-state.ts";
export type { Pin } from "./pins.ts";
export { type RenderedSummary, type RenderOptions, renderSummary } from "./render.ts";
export {
  emptyState,
  type ItemStatus,
  itemIds,
  readState,
  SECTIONS,
  type Section,
  type SummaryItem,
  type SummaryState,
} from "./state.ts";
export { type Probe, probes, terms } from "./terms.ts";
export { stubSummary } from "./wording.ts";

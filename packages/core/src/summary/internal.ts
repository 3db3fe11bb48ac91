/** What our own packages use of this folder. What is public of it is in `../index.ts`. */
export { type EditableItem, editableItems, planEdit, type SummaryChange } from "./edit.ts";
export { extractSummary } from "./extract.ts";
export type { Locate } from "./gather.ts";
export { createLocator, messageText } from "./gather.ts";
export type { NumberedMessage } from "./ledger.ts";
export { extendLedger } from "./ledger.ts";
export { LEDGER_FILE, ledgerText } from "./ledger-lines.ts";
export type { InvalidReason, NeutralProse, ParsedPatch, SummaryPatch } from "./patch.ts";
export { neutralizeProse, parsePatch, validateSummary } from "./patch.ts";
export { PROSE_PROMPT_VERSION, prosePrompt } from "./prompts/prose.ts";
export type { Chunk, PatchPrompt } from "./prompts/transcript.ts";
export {
  chunkMessages,
  PATCH_PROMPT_VERSION,
  PATCH_SCHEMA,
  patchPrompt,
  renderTranscript,
} from "./prompts/transcript.ts";
export { renderSummary } from "./render.ts";
export type { Originals, Pin } from "./render-lines.ts";
export { mediaName, NOWHERE, originalsIn, quote, RECALL, wordRoom } from "./render-lines.ts";
export type { DropReason } from "./state.ts";
export { editedState, emptyState, mergePatch, readState, SECTIONS, type SummaryState, withEdits } from "./state.ts";
export { atOnce, NO_QUOTES, ownText, quotable, quoteSteps, quoteWork, splitQuotes } from "./work.ts";

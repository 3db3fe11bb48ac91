/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { type EditableItem, editableItems, planEdit, type SummaryChange } from "./edit.ts";
export { createLocator } from "./gather.ts";
export { extendLedger } from "./ledger.ts";
export { LEDGER_FILE, ledgerText } from "./ledger-lines.ts";
export { neutralizeProse, parsePatch, validateSummary } from "./patch.ts";
export { PATCH_PROMPT_VERSION, PATCH_SCHEMA, patchPrompt } from "./prompts/patch.ts";
export { PROSE_PROMPT_VERSION, prosePrompt } from "./prompts/prose.ts";
export { chunkMessages, renderTranscript } from "./prompts/transcript.ts";
export { mediaName, NOWHERE, originalsIn, RECALL, wordRoom } from "./render-lines.ts";
export { editedState, mergePatch, withEdits } from "./state.ts";
export { ownText } from "./tool-calls.ts";
export { NO_QUOTES, quotable, quoteSteps, quoteWork, splitQuotes } from "./work.ts";

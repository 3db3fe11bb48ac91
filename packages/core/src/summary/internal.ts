/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { createLocator } from "./extract/locate.ts";
export { extendLedger } from "./ledger/ledger.ts";
export { LEDGER_FILE, ledgerText } from "./ledger/ledger-lines.ts";
export { ownText } from "./ledger/tool-calls.ts";
export { chunkMessages } from "./prompts/chunk.ts";
export { PATCH_PROMPT_VERSION, PATCH_SCHEMA, patchPrompt } from "./prompts/patch.ts";
export { PROSE_PROMPT_VERSION, prosePrompt } from "./prompts/prose.ts";
export { renderTranscript } from "./prompts/transcript.ts";
export { mediaName } from "./render/media-name.ts";
export { NOWHERE, originalsIn, RECALL } from "./render/originals.ts";
export { wordRoom } from "./render/short.ts";
export { mergePatch } from "./state/merge.ts";
export { parsePatch } from "./state/patch.ts";
export { neutralizeProse } from "./state/prose.ts";
export { validateSummary } from "./state/validate.ts";
export { NO_QUOTES, quotable, quoteWork, splitQuotes } from "./work/quote-work.ts";

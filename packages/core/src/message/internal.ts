/** What our own packages use of this folder beyond its public names. No promise is made about it. */

export { base64 } from "./ai-sdk.ts";
export { boundReasoning, reasoningBinder, signaturesOf } from "./bound-reasoning.ts";
export { DIALECTS, definitionOf, dialectVotes, readMessage, unreadable } from "./dialects.ts";
export { anthropicRules, googleRules, openaiResponsesRules, openaiRules, withToolFacts } from "./rules.ts";
export { isNestedTooDeeply, text } from "./schema.ts";
export { isUiMessage } from "./ui-messages.ts";

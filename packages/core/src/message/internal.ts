/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { isUiMessage } from "./ai-sdk/ui-messages.ts";
export { boundReasoning, reasoningBinder, signaturesOf } from "./bound-reasoning.ts";
export { dialectVotes, unreadable } from "./detect.ts";
export { DIALECTS, definitionOf } from "./dialects.ts";
export { isNestedTooDeeply } from "./nesting.ts";
export { readMessage } from "./read.ts";
export { anthropicRules, googleRules, openaiResponsesRules, openaiRules } from "./rules.ts";
export { withToolFacts } from "./tool-facts.ts";

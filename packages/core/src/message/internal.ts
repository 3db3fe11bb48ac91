/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { boundReasoning, signaturesOf } from "./bound-reasoning.ts";
export { definitionOf } from "./dialects.ts";
export { isNestedTooDeeply } from "./nesting.ts";
export { readMessage } from "./read.ts";

export type { ConversationOptions, ScriptMessage } from "./conversation.ts";
export { randomConversation, render } from "./conversation.ts";
export { type Random, random } from "./random.ts";
export { output, path, prose } from "./text.ts";

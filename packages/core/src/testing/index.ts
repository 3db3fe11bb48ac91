export type { ConversationOptions, ScriptMessage } from "./conversation.ts";
export { randomConversation, render } from "./conversation.ts";

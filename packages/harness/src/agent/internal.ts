/** What our other packages use of the agent. */
export { type ChatRequest, nameOf, readChat } from "./chat/chat-request.ts";
export { chatsOf } from "./chat/chats.ts";
export { REFUSAL_STATUS } from "./chat/refusal.ts";
export { uiMessageStream } from "./ui/ui-stream.ts";

/** What our other packages use of the agent. */
export { type ChatRequest, chatsOf, nameOf, REFUSAL_STATUS, readChat } from "./chat/respond.ts";
export { uiMessageStream } from "./ui/ui-stream.ts";

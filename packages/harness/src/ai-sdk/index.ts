export { type ChatOptions, type ChatRequest, chatMessages, type OpenChat, openChat } from "./chat.ts";
export { type CompactionMiddlewareOptions, compactionMiddleware } from "./compaction-middleware.ts";
export { type PalimpsestOptions, type PalimpsestSteps, palimpsest, type StepSettings } from "./steps.ts";

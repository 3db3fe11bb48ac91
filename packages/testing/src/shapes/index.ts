export type { ConversationOptions, ScriptMessage } from "./conversation.ts";
export { randomConversation, render } from "./conversation.ts";
export { plainPrompt } from "./prompt.ts";
export { type Random, random } from "./random.ts";
export { changed, type ShapeCase, type ShapeGenerator, shapeSuite } from "./shape-suite.ts";
export { output, path, prose } from "./text.ts";

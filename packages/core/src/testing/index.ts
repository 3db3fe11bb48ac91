export type { ConversationOptions, ScriptMessage } from "./conversation.ts";
export { randomConversation, render } from "./conversation.ts";
export { type Random, random } from "./random.ts";
export { type ShapeCase, type ShapeGenerator, shapeSuite } from "./shape-suite.ts";
export { output, path, prose } from "./text.ts";

/** What our own packages use of this folder. What is public of it is in `../index.ts`. */

export type { AiSdkMessage, AiSdkOutput, AiSdkPart } from "./ai-sdk.ts";
export { aiSdkShape, base64 } from "./ai-sdk.ts";
export type { AnthropicBlock, AnthropicMessage } from "./anthropic.ts";
export { anthropicShape } from "./anthropic.ts";
export { boundReasoning, reasoningBinder, signaturesOf } from "./bound-reasoning.ts";
export type { Detection, Dialect, MessageOf } from "./dialects.ts";
export {
  convert,
  DIALECTS,
  definitionOf,
  detectDialect,
  dialectVotes,
  isDialect,
  parseMessage,
  readMessage,
  readStored,
  readStoredAs,
  rulesOf,
  shapeOf,
  unreadable,
  withToolFacts,
} from "./dialects.ts";
export type { LangChainMessage } from "./langchain-blocks.ts";
export type { OpenAiBlock, OpenAiCall, OpenAiMessage } from "./openai.ts";
export { openaiShape } from "./openai.ts";
export type { ResponsesMessage } from "./openai-responses.ts";
export { responsesItems, responsesTurns } from "./openai-responses.ts";
export type { ResponsesItem } from "./openai-responses-items.ts";
export type { Repair, Repaired } from "./repair.ts";
export { mend, repair } from "./repair.ts";
export type { FindToolFacts, RuleSet, ToolAct, ToolFacts, ToolRegistry, Violation } from "./rules.ts";
export {
  anthropicRules,
  assertValid,
  describeTool,
  factsOfTool,
  forRequest,
  googleRules,
  openaiRules,
  toolRegistry,
  violations,
} from "./rules.ts";
export { isNestedTooDeeply, jsonOr, text } from "./schema.ts";
export type { CallPart, FilePart, ImagePart, Part, ResultPart, Role, Shape } from "./shape.ts";
export { isUiMessage, readUiMessages } from "./ui-messages.ts";

export type { AiSdkMessage, AiSdkOutput, AiSdkPart } from "./ai-sdk/shape.ts";
export { aiSdkShape } from "./ai-sdk/shape.ts";
export type { LostPart, ReadUiMessages } from "./ai-sdk/ui-messages.ts";
export { readUiMessages } from "./ai-sdk/ui-messages.ts";
export type { AnthropicBlock, AnthropicMessage, AnthropicSource } from "./anthropic/shape.ts";
export { anthropicShape } from "./anthropic/shape.ts";
export type { BoundMessages, BoundOptions } from "./bound-reasoning.ts";
export { convert } from "./convert.ts";
export type { Detection } from "./detect.ts";
export { detectDialect } from "./detect.ts";
export type { Dialect, MessageOf } from "./dialects.ts";
export { rulesOf, shapeOf } from "./dialects.ts";
export type { GeminiMessage, GeminiPart } from "./gemini/shape.ts";
export type { LangChainMessage } from "./langchain/forms.ts";
export type { OpenAiBlock } from "./openai/blocks.ts";
export type { OpenAiCall, OpenAiMessage } from "./openai/shape.ts";
export { openaiShape } from "./openai/shape.ts";
export type { ResponsesItem } from "./openai-responses/items.ts";
export type { ResponsesMessage } from "./openai-responses/shape.ts";
export { responsesItems, responsesTurns } from "./openai-responses/shape.ts";
export type { ReadResult } from "./read.ts";
export type { Repair, Repaired } from "./repair.ts";
export { repair } from "./repair.ts";
export type { RuleName, RuleSet, Violation } from "./rules.ts";
export { assertValid, forRequest, violations } from "./rules.ts";
export type {
  Answer,
  CallPart,
  FilePart,
  ImagePart,
  OtherPart,
  Part,
  ReasoningPart,
  ResultPart,
  Role,
  Shape,
  TextPart,
} from "./shape.ts";
export type { FindToolFacts, ToolAct, ToolFacts } from "./tool-facts.ts";

export type { AiSdkMessage, AiSdkOutput, AiSdkPart } from "./ai-sdk.ts";
export { aiSdkShape } from "./ai-sdk.ts";
export type { AnthropicBlock, AnthropicMessage, AnthropicSource } from "./anthropic.ts";
export { anthropicShape } from "./anthropic.ts";
export type { BoundMessages, BoundOptions } from "./bound-reasoning.ts";
export { convert } from "./convert.ts";
export type { Detection, Dialect, MessageOf, ReadResult } from "./dialects.ts";
export { detectDialect, rulesOf, shapeOf } from "./dialects.ts";
export type { GeminiMessage, GeminiPart } from "./gemini.ts";
export type { LangChainMessage } from "./langchain-blocks.ts";
export type { OpenAiBlock, OpenAiCall, OpenAiMessage } from "./openai.ts";
export { openaiShape } from "./openai.ts";
export type { ResponsesMessage } from "./openai-responses.ts";
export { responsesItems, responsesTurns } from "./openai-responses.ts";
export type { ResponsesItem } from "./openai-responses-items.ts";
export type { Repair, Repaired } from "./repair.ts";
export { repair } from "./repair.ts";
export type { FindToolFacts, RuleName, RuleSet, ToolAct, ToolFacts, Violation } from "./rules.ts";
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
export type { LostPart, ReadUiMessages } from "./ui-messages.ts";
export { readUiMessages } from "./ui-messages.ts";

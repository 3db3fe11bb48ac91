export type { AiSdkMessage, AiSdkOutput, AiSdkPart } from "./ai-sdk.ts";
export { aiSdkShape } from "./ai-sdk.ts";
export type { AnthropicBlock, AnthropicMessage, AnthropicSource } from "./anthropic.ts";
export { anthropicShape } from "./anthropic.ts";
export type { OpenAiBlock, OpenAiCall, OpenAiMessage } from "./openai.ts";
export { openaiShape } from "./openai.ts";
export type {
  Answer,
  CallPart,
  Dialect,
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
export type { MessageOf } from "./shapes.ts";
export { shapeOf } from "./shapes.ts";

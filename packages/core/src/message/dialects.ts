/** Which shape reads which dialect. The only place that names all three. */
import { type AiSdkMessage, aiSdkShape } from "./ai-sdk/shape.ts";
import { type AnthropicMessage, anthropicShape } from "./anthropic/shape.ts";
import { type OpenAiMessage, openaiShape } from "./openai/shape.ts";
import { remembered } from "./remembered.ts";
import type { Dialect, Shape } from "./shape.ts";

/** The message type of each dialect. */
export interface MessageOf {
  openai: OpenAiMessage;
  anthropic: AnthropicMessage;
  "ai-sdk": AiSdkMessage;
}

const SHAPES: { readonly [D in Dialect]: Shape<MessageOf[D]> } = {
  openai: remembered(openaiShape),
  anthropic: remembered(anthropicShape),
  "ai-sdk": remembered(aiSdkShape),
};

export function shapeOf<D extends Dialect>(dialect: D): Shape<MessageOf[D]> {
  return SHAPES[dialect];
}

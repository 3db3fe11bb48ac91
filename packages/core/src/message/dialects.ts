/** Which dialects there are: the only place that names them all. A new one is a folder and a line in each list here. */
import { aiSdk } from "./ai-sdk/dialect.ts";
import type { AiSdkMessage } from "./ai-sdk/shape.ts";
import { anthropic } from "./anthropic/dialect.ts";
import type { AnthropicMessage } from "./anthropic/shape.ts";
import type { DialectDefinition } from "./dialect.ts";
import { gemini } from "./gemini/dialect.ts";
import type { GeminiMessage } from "./gemini/shape.ts";
import { langchain } from "./langchain/dialect.ts";
import type { LangChainMessage } from "./langchain/forms.ts";
import { openai } from "./openai/dialect.ts";
import type { OpenAiMessage } from "./openai/shape.ts";
import { openaiResponses } from "./openai-responses/dialect.ts";
import type { ResponsesMessage } from "./openai-responses/shape.ts";
import { remembered } from "./remembered.ts";
import type { RuleSet } from "./rules.ts";
import type { Shape } from "./shape.ts";

/** The message type of each dialect. */
export interface MessageOf {
  openai: OpenAiMessage;
  anthropic: AnthropicMessage;
  "ai-sdk": AiSdkMessage;
  gemini: GeminiMessage;
  "openai-responses": ResponsesMessage;
  langchain: LangChainMessage;
}

export type Dialect = keyof MessageOf;

const DEFINITIONS: { readonly [D in Dialect]: DialectDefinition<MessageOf[D]> } = {
  openai: remembering(openai),
  anthropic: remembering(anthropic),
  "ai-sdk": remembering(aiSdk),
  gemini: remembering(gemini),
  "openai-responses": remembering(openaiResponses),
  langchain: remembering(langchain),
};

export const DIALECTS = Object.keys(DEFINITIONS) as readonly Dialect[];

export function definitionOf<D extends Dialect>(dialect: D): DialectDefinition<MessageOf[D]> {
  return DEFINITIONS[dialect];
}

export function shapeOf<D extends Dialect>(dialect: D): Shape<MessageOf[D]>;
/** For a client's own type of the same messages: `shapeOf<ModelMessage>("ai-sdk")`. */
export function shapeOf<M extends object>(dialect: Dialect): Shape<M>;
export function shapeOf(dialect: Dialect): unknown {
  return DEFINITIONS[dialect].shape;
}

/** The rule set that fits a dialect when nothing more is known about the provider. */
export function rulesOf(dialect: Dialect): RuleSet {
  return DEFINITIONS[dialect].rules;
}

function remembering<M extends object>(definition: DialectDefinition<M>): DialectDefinition<M> {
  return { ...definition, shape: remembered(definition.shape) };
}

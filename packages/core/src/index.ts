/**
 * The public names of the engine: the messages of six dialects, what a provider would refuse in them, their size, and the
 * base of all errors. What our own packages use beyond that stands in each folder's `internal.ts`.
 */
export { PalimpsestError } from "./errors.ts";
export { checkThreadId, checkUser } from "./log/chain.ts";
export type { AiSdkMessage } from "./message/ai-sdk.ts";
export type { AnthropicMessage } from "./message/anthropic.ts";
export {
  convert,
  type Detection,
  type Dialect,
  detectDialect,
  type MessageOf,
  rulesOf,
  shapeOf,
} from "./message/dialects.ts";
export type { GeminiMessage } from "./message/gemini.ts";
export type { LangChainMessage } from "./message/langchain-blocks.ts";
export type { OpenAiMessage } from "./message/openai.ts";
export { type ResponsesMessage, responsesItems, responsesTurns } from "./message/openai-responses.ts";
export type { ResponsesItem } from "./message/openai-responses-items.ts";
export { type Repair, type Repaired, repair } from "./message/repair.ts";
export { forRequest, type RuleSet, type Violation, violations } from "./message/rules.ts";
export type { Answer, Part, Role, Shape } from "./message/shape.ts";
export { type ReadUiMessages, readUiMessages } from "./message/ui-messages.ts";
export { type CountText, charsPerToken, createMeter, type Meter, type MeterOptions } from "./tokens/counter.ts";

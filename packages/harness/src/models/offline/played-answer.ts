/**
 * An answer that we write ourselves, as the AI SDK wants to hear it: whole, or as a stream of parts. The scripted model
 * and the offline model both speak through this file. It makes no decisions.
 */
// Handed on for `@palimpsest/testing`: a dependency of its own could be another version of the types than `ai` has.
export type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";

import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { type AiSdkMessage, aiSdkShape } from "@palimpsest/core/internal/message";
import { type CountText, createMeter } from "@palimpsest/core/internal/tokens";

export interface PlayedAnswer {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly PlayedCall[];
  /** Without it: `tool-calls` when there are calls, else `stop`. */
  readonly finish?: LanguageModelV4FinishReason["unified"] | LanguageModelV4FinishReason;
}

/** `input` that is a string is sent as it is, so that broken JSON can be played too. */
export interface PlayedCall {
  readonly id?: string;
  readonly name: string;
  readonly input: unknown;
}

export interface Playing {
  readonly modelId: string;
  readonly usage: LanguageModelV4Usage;
  /** Names the calls that have no id of their own; unique within a conversation. */
  readonly callId: (index: number) => string;
  readonly responseId: string;
}

export function wholeAnswer(answer: PlayedAnswer, playing: Playing): LanguageModelV4GenerateResult {
  return {
    content: contentOf(answer, playing),
    finishReason: finishOf(answer),
    usage: playing.usage,
    warnings: [],
    response: { id: playing.responseId, modelId: playing.modelId },
  };
}

/** The parts of a stream up to its end; the caller may stop before the last one to play a broken stream. */
export function answerParts(answer: PlayedAnswer, playing: Playing): readonly LanguageModelV4StreamPart[] {
  const body = contentOf(answer, playing).flatMap((piece, index): LanguageModelV4StreamPart[] => {
    const id = String(index);
    if (piece.type === "tool-call") {
      const call = { id: piece.toolCallId, toolName: piece.toolName };
      return [
        { type: "tool-input-start", ...call },
        { type: "tool-input-delta", id: call.id, delta: piece.input },
        { type: "tool-input-end", id: call.id },
        piece,
      ];
    }
    if (piece.type !== "text" && piece.type !== "reasoning") return [];
    const deltas = slices(piece.text).map((delta) => ({ type: `${piece.type}-delta` as const, id, delta }));
    return [{ type: `${piece.type}-start`, id }, ...deltas, { type: `${piece.type}-end`, id }];
  });
  return [
    { type: "stream-start", warnings: [] },
    { type: "response-metadata", id: playing.responseId, modelId: playing.modelId },
    ...body,
    { type: "finish", finishReason: finishOf(answer), usage: playing.usage },
  ];
}

/** Tokens of a whole request: messages, system prompt and tool schemas. */
export function requestTokens(options: Pick<LanguageModelV4CallOptions, "prompt" | "tools">, count: CountText): number {
  const meter = createMeter(aiSdkShape, { counter: count });
  return meter.messages(messagesOf(options.prompt)) + meter.tools(options.tools ?? []);
}

export function usageOf(answer: PlayedAnswer, input: number, count: CountText): LanguageModelV4Usage {
  const calls = (answer.calls ?? []).reduce((sum, call) => sum + count(call.name) + count(inputText(call.input)), 0);
  const text = count(answer.text ?? "") + calls;
  const reasoning = count(answer.reasoning ?? "");
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: text + reasoning, text, reasoning },
  };
}

/** What a provider receives is what the SDK's own messages hold, so core's shape reads it. */
export const messagesOf = (prompt: LanguageModelV4Prompt): readonly AiSdkMessage[] =>
  prompt as unknown as readonly AiSdkMessage[];

function contentOf(answer: PlayedAnswer, { callId }: Playing): LanguageModelV4Content[] {
  const content: LanguageModelV4Content[] = [];
  if (answer.reasoning) content.push({ type: "reasoning", text: answer.reasoning });
  if (answer.text) content.push({ type: "text", text: answer.text });
  for (const [index, { id, name, input }] of (answer.calls ?? []).entries()) {
    content.push({ type: "tool-call", toolCallId: id ?? callId(index), toolName: name, input: inputText(input) });
  }
  return content;
}

function finishOf({ finish, calls = [] }: PlayedAnswer): LanguageModelV4FinishReason {
  if (typeof finish === "object") return finish;
  const unified = finish ?? (calls.length > 0 ? "tool-calls" : "stop");
  return { unified, raw: unified };
}

const inputText = (input: unknown): string => (typeof input === "string" ? input : JSON.stringify(input ?? {}));

const DELTA_CHARS = 24;

/** By code points, so that no delta ends in half a character. */
function slices(text: string): string[] {
  const points = [...text];
  const count = Math.ceil(points.length / DELTA_CHARS);
  return Array.from({ length: count }, (_, at) => points.slice(at * DELTA_CHARS, (at + 1) * DELTA_CHARS).join(""));
}

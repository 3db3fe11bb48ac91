/**
 * One streamed call of a model through the SDK, in one of two ways that come to the same answer. `streamText` is made for
 * whole conversations and costs a turn a third of its CPU; the SDK's single call does all that is needed here, but is still
 * marked as experimental. So it is used where the installed SDK has it and nobody listens to the telemetry that
 * `streamText` sends.
 */
import { tracingChannel } from "node:diagnostics_channel";
import type { AiSdkMessage } from "@palimpsest/core/message";
import * as sdk from "ai";
import { answerMessage } from "./answer-message.ts";
import type { ModelObject, ModelSettings } from "./model.ts";

export interface ModelCall extends Omit<ModelSettings, "languageModel"> {
  readonly model: ModelObject;
  readonly instructions: string | sdk.SystemModelMessage;
  readonly messages: sdk.ModelMessage[];
  readonly tools: sdk.ToolSet;
  readonly abortSignal: AbortSignal;
}

export interface ModelStream {
  /** Read them to their end. */
  readonly parts: AsyncIterable<{ readonly type: string }>;
  /** Once they were read; null when the stream just ended. */
  end(): Promise<StreamEnd | null>;
}

interface StreamEnd {
  readonly finishReason: string;
  readonly rawFinishReason: string | undefined;
  readonly usage: sdk.LanguageModelUsage;
  /** Null when the model said nothing at all. */
  readonly message: AiSdkMessage | null;
}

export async function openModelStream(call: ModelCall): Promise<ModelStream> {
  return SINGLE_CALL === undefined || isTraced() ? streamConversation(call) : streamSingleCall(call);
}

const SINGLE_CALL = sdk.experimental_streamLanguageModelCall as
  | typeof sdk.experimental_streamLanguageModelCall
  | undefined;

/** Looked up with every call: whoever listens may come later. */
function isTraced(): boolean {
  const integrations = (globalThis as { AI_SDK_TELEMETRY_INTEGRATIONS?: readonly unknown[] })
    .AI_SDK_TELEMETRY_INTEGRATIONS;
  return (integrations?.length ?? 0) > 0 || TELEMETRY.hasSubscribers;
}

const TELEMETRY = tracingChannel("ai:telemetry");

export function streamConversation(call: ModelCall): ModelStream {
  const result = sdk.streamText({
    ...call,
    maxRetries: 0,
    // Promises that nobody awaits must not end the process when the call fails.
    onError: () => {},
  });
  return {
    parts: result.stream,
    async end() {
      const [done] = await result.steps;
      if (done === undefined) return null;
      const { finishReason, rawFinishReason, response, usage } = done;
      const message = response.messages.find(({ role }) => role === "assistant");
      return { finishReason, rawFinishReason, usage, message: (message ?? null) as AiSdkMessage | null };
    },
  };
}

type Content = Parameters<typeof answerMessage>[0];
type CallPart = sdk.Experimental_LanguageModelStreamPart<sdk.ToolSet>;

export async function streamSingleCall(call: ModelCall): Promise<ModelStream> {
  const { model, tools } = call;
  let content: Content = [];
  let last: Extract<CallPart, { type: "model-call-end" }> | null = null;
  const { stream } = await SINGLE_CALL!({
    ...call,
    includeRawChunks: false,
    onLanguageModelCallEnd: (event) => {
      content = event.content;
    },
  });
  async function* parts(): AsyncGenerator<CallPart> {
    for await (const part of stream) {
      if (part.type === "model-call-start") logWarnings(part.warnings, model);
      if (part.type === "model-call-end") last = part;
      // A piece without a word says nothing; `streamText` leaves it out, too.
      if ((part.type === "text-delta" || part.type === "reasoning-delta") && part.text === "") continue;
      yield part;
    }
  }
  return {
    parts: parts(),
    async end() {
      if (last === null) return null;
      const { finishReason, rawFinishReason, usage } = last;
      return { finishReason, rawFinishReason, usage, message: await answerMessage(content, tools) };
    },
  };
}

/** As `streamText` does: to whom the program has named, else to the process. */
function logWarnings(warnings: sdk.CallWarning[], { provider, modelId }: ModelObject): void {
  const logger = globalThis.AI_SDK_LOG_WARNINGS;
  if (warnings.length === 0 || logger === false) return;
  if (logger !== undefined) logger({ warnings, provider, model: modelId });
  else for (const warning of warnings) process.emitWarning(`${provider} / ${modelId}: ${JSON.stringify(warning)}`);
}

/**
 * One streamed call of a model through the SDK, in one of two ways that come to the same answer. `streamText` is made for
 * whole conversations and costs a turn a third of its CPU; the SDK's single call does all that is needed here, but is still
 * marked as experimental. So it is used where the installed SDK has it and nobody listens to the telemetry that
 * `streamText` sends.
 */
import { tracingChannel } from "node:diagnostics_channel";
import type { AiSdkMessage } from "@palimpsest/core/message";
import type { ContentPart, ToolSet } from "ai";
import * as sdk from "ai";
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

// What a model said in one call, as the message that stands for it in the log. Field for field as the SDK makes it
// of a whole conversation: a thread looks the same whichever way its model was called.

type Said = ContentPart<ToolSet>;

/** Null when there is nothing in it that a later request could repeat. */
export async function answerMessage(content: readonly Said[], tools: ToolSet): Promise<AiSdkMessage | null> {
  const parts: object[] = [];
  for (const part of content) {
    const written = await writtenPart(part, tools);
    if (written !== null) parts.push(written);
  }
  // Parts as the SDK's own type has them; core's names the same fields, read-only.
  return parts.length === 0 ? null : ({ role: "assistant", content: parts } as unknown as AiSdkMessage);
}

async function writtenPart(part: Said, tools: ToolSet): Promise<object | null> {
  switch (part.type) {
    case "text":
      if (part.text === "" && part.providerMetadata == null) return null;
      return { type: part.type, text: part.text, providerOptions: part.providerMetadata };
    case "reasoning":
      return { type: part.type, text: part.text, providerOptions: part.providerMetadata };
    case "custom":
      return { type: part.type, kind: part.kind, providerOptions: part.providerMetadata };
    case "file":
    case "reasoning-file": {
      const { base64: data, mediaType } = part.file;
      return { type: part.type, data, mediaType, providerOptions: part.providerMetadata };
    }
    case "tool-call":
      return writtenCall(part);
    case "tool-result":
    case "tool-error":
      return writtenResult(part, tools);
    case "tool-approval-request":
      return { type: part.type, approvalId: part.approvalId, toolCallId: part.toolCall.toolCallId };
    default:
      return null;
  }
}

function writtenCall(part: Extract<Said, { type: "tool-call" }>): object {
  const { type, toolCallId, toolName, input, providerExecuted, providerMetadata } = part;
  return {
    type,
    toolCallId,
    toolName,
    input: part.invalid && typeof input !== "object" ? {} : input,
    providerExecuted,
    providerOptions: providerMetadata,
  };
}

/** Only results of the provider's own tools stand in an answer. */
async function writtenResult(
  part: Extract<Said, { type: "tool-result" | "tool-error" }>,
  tools: ToolSet,
): Promise<object | null> {
  if (!part.providerExecuted) return null;
  const { toolCallId, toolName, providerMetadata } = part;
  const output =
    part.type === "tool-error" ? { type: "error-json", value: part.error ?? null } : await resultOutput(part, tools);
  return { type: "tool-result", toolCallId, toolName, output, providerOptions: providerMetadata };
}

/** A tool's output as the model reads it. */
export async function resultOutput(
  {
    toolCallId,
    toolName,
    input,
    output,
  }: Pick<Extract<Said, { type: "tool-result" }>, "toolCallId" | "toolName" | "input" | "output">,
  tools: ToolSet,
) {
  const { toModelOutput } = (Object.hasOwn(tools, toolName) ? tools[toolName] : undefined) ?? {};
  if (toModelOutput !== undefined) return toModelOutput({ toolCallId, input, output });
  return typeof output === "string" ? { type: "text", value: output } : { type: "json", value: output ?? null };
}

/**
 * What a model said in one call, as the message that stands for it in the log. Field for field as the SDK makes it of a
 * whole conversation: a thread looks the same whichever way its model was called.
 */
import type { AiSdkMessage } from "@palimpsest/core/message";
import type { ContentPart, ToolSet } from "ai";

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

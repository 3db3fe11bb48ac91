/**
 * An answer that is in the log as the chunks of its stream, for a request that is sent again. Of an answer that the page
 * shows in part, such as one with a call that was approved, only what it doesn't show yet. Pure.
 */
import { getToolName, isToolUIPart, type UIMessage, type UIMessageChunk } from "ai";

type UIPart = UIMessage["parts"][number];
type ToolPart = Extract<UIPart, { toolCallId: string }>;

export function answerChunks(
  answer: UIMessage,
  { shown, end }: { readonly shown: UIMessage | null; readonly end: "finish" | "abort" },
): readonly UIMessageChunk[] {
  const stepsShown = shown?.parts.filter(({ type }) => type === "step-start").length ?? 0;
  const chunks: UIMessageChunk[] = [{ type: "start", messageId: shown?.id ?? answer.id }];
  let step = 0;
  for (const [index, part] of answer.parts.entries()) {
    if (part.type === "step-start") {
      if (step > stepsShown) chunks.push({ type: "finish-step" });
      step += 1;
      if (step > stepsShown) chunks.push({ type: "start-step" });
    } else if (step > stepsShown) chunks.push(...partChunks(part, `${index}`));
    else if (isToolUIPart(part) && !isSettled(shown, part)) chunks.push(...resultChunks(part));
  }
  if (step > stepsShown) chunks.push({ type: "finish-step" });
  chunks.push(end === "abort" ? { type: "abort" } : { type: "finish", finishReason: "stop" });
  return chunks;
}

function isSettled(shown: UIMessage | null, { toolCallId }: ToolPart): boolean {
  return (
    shown?.parts.some(
      (part) => isToolUIPart(part) && part.toolCallId === toolCallId && part.state.startsWith("output-"),
    ) === true
  );
}

function partChunks(part: UIPart, id: string): readonly UIMessageChunk[] {
  if (isToolUIPart(part)) return [...callChunks(part), ...resultChunks(part)];
  switch (part.type) {
    case "text":
    case "reasoning":
      return [
        { type: `${part.type}-start`, id },
        { type: `${part.type}-delta`, id, delta: part.text },
        { type: `${part.type}-end`, id },
      ];
    case "file":
      return [{ type: "file", url: part.url, mediaType: part.mediaType }];
    default:
      return [];
  }
}

function callChunks(part: ToolPart): readonly UIMessageChunk[] {
  const { toolCallId, input } = part;
  const providerExecuted = part.providerExecuted === true ? { providerExecuted: true } : {};
  const call = {
    type: "tool-input-available",
    toolCallId,
    toolName: getToolName(part),
    input,
    ...providerExecuted,
  } as const;
  if (part.approval === undefined) return [call];
  return [call, { type: "tool-approval-request", approvalId: part.approval.id, toolCallId }];
}

function resultChunks(part: ToolPart): readonly UIMessageChunk[] {
  const { toolCallId } = part;
  switch (part.state) {
    case "output-available":
      return [{ type: "tool-output-available", toolCallId, output: part.output }];
    case "output-error":
      return [{ type: "tool-output-error", toolCallId, errorText: part.errorText }];
    case "output-denied":
      return [{ type: "tool-output-denied", toolCallId }];
    default:
      return [];
  }
}

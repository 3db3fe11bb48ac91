/**
 * What is new in the messages that a browser holds. `useChat` sends all of them each time; the thread has everything but
 * what the person did last: wrote a message, answered a request for approval, or let the browser run a tool.
 */
import { convertToModelMessages, isToolUIPart, type ModelMessage, type UIMessage } from "ai";
import type { ApprovalAnswer } from "../approval/pending.ts";
import { AgentError } from "../errors.ts";

export interface NewInUi {
  readonly messages: readonly ModelMessage[];
  readonly answers: readonly ApprovalAnswer[];
}

/** Throws an `AgentError` where the last message can't be read. */
export async function newInUi(messages: readonly UIMessage[]): Promise<NewInUi> {
  const last = messages.at(-1);
  if (last === undefined) throw new AgentError("empty-prompt", "uiMessages is empty: nothing was sent");
  const converted = await toModelMessages(last).catch((error: unknown) => {
    throw new AgentError("bad-message", `the last of uiMessages can't be used: ${String(error)}`, { cause: error });
  });
  if (last.role !== "assistant") return { messages: converted, answers: [] };
  const results = converted.filter(({ role }) => role === "tool").slice(-1);
  return { messages: results.flatMap(onlyResults), answers: answersIn(last) };
}

async function toModelMessages(message: UIMessage): Promise<readonly ModelMessage[]> {
  return convertToModelMessages([{ ...message, parts: message.parts.filter(isMade) }]);
}

/** Not a call that the model began and took back. */
function isMade(part: UIMessage["parts"][number]): boolean {
  return !isToolUIPart(part) || part.state !== "output-error" || part.input !== undefined;
}

function answersIn({ parts }: UIMessage): readonly ApprovalAnswer[] {
  return parts.filter(isToolUIPart).flatMap((part) => {
    if (part.state !== "approval-responded") return [];
    const { approved, reason } = part.approval;
    return [{ callId: part.toolCallId, answer: approved ? ("yes" as const) : ("no" as const), reason }];
  });
}

/** Of a call that is being answered here, the run writes the result. */
function onlyResults(message: ModelMessage): readonly ModelMessage[] {
  if (message.role !== "tool") return [];
  const content = message.content.filter(
    (part) => part.type === "tool-result" && part.output.type !== "execution-denied",
  );
  return content.length === 0 ? [] : [{ ...message, content }];
}

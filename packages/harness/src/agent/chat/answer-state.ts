/** How far something said has been answered, by what follows it in the log. Pure. */
import type { Origin } from "@palimpsest/core/log";
import { type AiSdkMessage, aiSdkShape } from "@palimpsest/core/message";

export interface LoggedMessage {
  readonly message: AiSdkMessage;
  readonly origin: Origin;
}

/**
 * `messages`: a question and what follows it. An answer whose calls wait for a person is one; with other calls that have no result,
 * as after a crash, it is not. `waits` says which calls do.
 */
export function answerState(
  messages: readonly LoggedMessage[],
  waits: (callId: string, toolName: string) => boolean,
): "unanswered" | "answered" | "aborted" {
  const last = messages.at(-1);
  if (last?.origin === "aborted") return "aborted";
  const { calls, answered } = lastCalls(messages.map(({ message }) => message));
  const open = [...calls].filter(([id]) => !answered.has(id));
  const isWhole = open.length === 0 && last?.message.role === "assistant";
  return isWhole || open.some(([id, name]) => waits(id, name)) ? "answered" : "unanswered";
}

/** Names of the calls in the last answer that makes any, and which of them have a result. Ids are unique within an answer only. */
export function lastCalls(messages: readonly AiSdkMessage[]): {
  readonly calls: ReadonlyMap<string, string>;
  readonly answered: ReadonlySet<string>;
} {
  const at = messages.findLastIndex((message) => aiSdkShape.calls(message).length > 0);
  const parts = at === -1 ? [] : aiSdkShape.parts(messages[at]!);
  const calls = new Map(parts.flatMap((part) => (part.kind === "call" ? [[part.id, part.name] as const] : [])));
  const answered = new Set(messages.slice(at + 1).flatMap((message) => aiSdkShape.answers(message)));
  return { calls, answered };
}

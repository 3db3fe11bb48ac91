/** Whether a chat's request was carried out already, by what the log says: one that is sent again gets its answer back. */
import { type MessageRecord, parseHeader } from "@palimpsest/core/internal/log";
import { aiSdkShape, parseMessage } from "@palimpsest/core/internal/message";
import { getToolName, isToolUIPart, type UIMessage, type UIMessageChunk } from "ai";
import type { Store } from "../../stores/store.ts";
import { bodyOf } from "../../thread/log.ts";
import { pendingIn } from "../approval.ts";
import { isQuestion, newestFirst } from "../fork.ts";
import { uiMessagesOf } from "../ui/thread-messages.ts";
import type { UIStreamOptions } from "../ui/ui-stream.ts";
import type { ChatRequest } from "./respond.ts";
import { alreadySaid, answerState, type BrowserWords, type LoggedMessage, lastCalls, type UserWords } from "./words.ts";

/** `unanswered`: it was said, and the thread can go on from there. */
export type RequestInLog =
  | { readonly kind: "new" | "unanswered" }
  | { readonly kind: "answered"; readonly chunks: readonly UIMessageChunk[] };

export interface ChatLog {
  readonly store: Store;
  readonly threadId: string;
  /** Whether the tool is one that the browser runs. */
  readonly isClients: (toolName: string) => boolean;
}

/** Throws `already-said` where the log has other words under the message's id. */
export async function requestInLog(
  { store, threadId, isClients }: ChatLog,
  { act, messageId, words, last: sent }: ChatRequest,
  { onError }: Pick<UIStreamOptions, "onError">,
): Promise<RequestInLog> {
  const head = await store.head(threadId);
  if (words === null || head === undefined) return NEW;
  const pending = pendingIn(head.state, threadId);
  const turn =
    words.said === null
      ? await answeredTurn(store, threadId, words)
      : await saidTurn(store, threadId, { ...words.said, id: messageId ?? words.said.id });
  if (turn === null) return NEW;
  if (turn === "other-words") {
    if (act === "edit") return NEW;
    throw alreadySaid(`message ${words.said!.id} is, with other words,`);
  }
  const { records, isLast } = turn;
  const state = answerState(loggedIn(records), (id, name) => isClients(name) || pending.some((call) => call.id === id));
  if (state === "unanswered" && isLast) return { kind: "unanswered" };
  if (state === "unanswered") throw alreadySaid(`message ${words.said?.id} is, without an answer,`);
  const messages = await uiMessagesOf(records, { pending, onError });
  const shown = sent?.role === "assistant" ? sent : null;
  return {
    kind: "answered",
    chunks: answerChunks(messages.at(-1)!, { shown, end: state === "aborted" ? "abort" : "finish" }),
  };
}

const NEW = { kind: "new" } as const;

/** A question and everything up to the next one. */
interface LoggedTurn {
  readonly records: readonly MessageRecord[];
  readonly isLast: boolean;
}

async function saidTurn(
  store: Store,
  threadId: string,
  { id, message }: UserWords,
): Promise<LoggedTurn | "other-words" | null> {
  const { version = 0 } = (await store.head(threadId)) ?? {};
  const range = [Math.max(1, version - LOOKED_AT + 1), version] as const;
  const query = { range, kinds: ["message"], bodies: "none", order: "descending" } as const;
  for await (const { chained } of store.records(threadId, query)) {
    const header = parseHeader(chained);
    if (header.kind !== "message" || header.id !== id) continue;
    const turn = await turnFrom(store, threadId, header.seq, version);
    return turn.records[0]?.body === bodyOf(message) ? turn : "other-words";
  }
  return null;
}

/** So many records back: a request is sent again soon or never, and reading a long thread whole costs too much for that. */
const LOOKED_AT = 1_000;

async function turnFrom(store: Store, threadId: string, seq: number, version: number): Promise<LoggedTurn> {
  const records: MessageRecord[] = [];
  for await (const { record } of store.records(threadId, { range: [seq, version], kinds: ["message"] })) {
    if (record.kind !== "message") continue;
    if (records.length > 0 && isQuestion(record)) return { records, isLast: false };
    records.push(record);
  }
  return { records, isLast: true };
}

/** The last turn, if every call that is answered here has a result by now. */
async function answeredTurn(
  store: Store,
  threadId: string,
  { answers, outputs }: BrowserWords,
): Promise<LoggedTurn | null> {
  const records: MessageRecord[] = [];
  for await (const record of newestFirst(store, threadId)) {
    records.unshift(record);
    if (isQuestion(record)) break;
  }
  const messages = loggedIn(records).map(({ message }) => message);
  const { calls, answered } = lastCalls(messages);
  const results = new Set(messages.flatMap((message) => aiSdkShape.answers(message)));
  const isOpen = (callId: string) => calls.has(callId) && !answered.has(callId);
  const isDone = [...answers, ...outputs].every(({ callId }) => results.has(callId) && !isOpen(callId));
  return isDone ? { records, isLast: true } : null;
}

/** An agent's own; other dialects in the log were imported. */
function loggedIn(records: readonly MessageRecord[]): readonly LoggedMessage[] {
  const own = records.filter(({ dialect }) => dialect === "ai-sdk");
  return own.map(({ body, origin }) => ({ message: parseMessage("ai-sdk", body), origin }));
}

// An answer that is in the log as the chunks of its stream, for a request that is sent again. Of an answer that the
// page shows in part, such as one with a call that was approved, only what it doesn't show yet.

type AnswerUIPart = UIMessage["parts"][number];
type ToolPart = Extract<AnswerUIPart, { toolCallId: string }>;

function answerChunks(
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

function partChunks(part: AnswerUIPart, id: string): readonly UIMessageChunk[] {
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

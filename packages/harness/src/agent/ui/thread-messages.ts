/**
 * A thread as the messages that `useChat` shows, for a page that is loaded again: one message per question and one per
 * answer with all its steps, as the stream would have built them. What the agent told itself is left out.
 */

import type { MessageRecord } from "@palimpsest/core/internal/log";
import { jsonOr, type Part, readStored } from "@palimpsest/core/internal/message";
import { isRecord } from "@palimpsest/core/internal/text";
import type { UIMessage } from "ai";
import type { PendingCall } from "../approval.ts";

type UIPart = UIMessage["parts"][number];

export interface ThreadMessagesOptions {
  readonly pending: readonly PendingCall[];
  /** What a browser is told of a tool's error; by default no more than that there was one, as in the stream. */
  readonly onError?: ((error: Error) => string) | undefined;
}

export async function uiMessagesOf(
  records: AsyncIterable<MessageRecord> | Iterable<MessageRecord>,
  { pending, onError = () => "An error occurred." }: ThreadMessagesOptions,
): Promise<UIMessage[]> {
  const messages: UIMessage[] = [];
  /** Calls by id; ids are unique within an answer only, and the newest is meant. */
  const calls = new Map<string, ThreadCallPart>();
  for await (const record of records) {
    if (record.origin === "injected") continue;
    const { shape, message } = readStored(record);
    const parts = shape.parts(message);
    const role = shape.role(message);
    if (role === "system") continue;
    const own = parts.filter((part) => part.kind !== "result");
    const shown = own.flatMap((part) => shownPart(part, { calls, onError }));
    for (const part of parts) if (part.kind === "result") settle(calls.get(part.id), part, { message, onError });
    if (own.length === 0) continue;
    if (role === "assistant") answer(messages, record).parts.push({ type: "step-start" }, ...shown);
    else messages.push({ id: record.id, role: "user", parts: shown });
  }
  for (const { id, answer: word, reason } of pending) {
    const approval = word === null ? { id } : { id, approved: word === "yes", ...(reason !== null && { reason }) };
    const call = calls.get(id);
    if (call !== undefined)
      Object.assign(call, { approval, state: word === null ? "approval-requested" : "approval-responded" });
  }
  return messages;
}

/** The steps of one turn are one message, named as the stream of its first run names it. */
function answer(messages: UIMessage[], { id, runId }: MessageRecord): UIMessage {
  const last = messages.at(-1);
  if (last?.role === "assistant") return last;
  const made: UIMessage = { id: runId ?? id, role: "assistant", parts: [] };
  messages.push(made);
  return made;
}

type ThreadCallPart = { -readonly [K in "type" | "toolCallId" | "state"]: string } & { input: unknown };

/** What is known of the page so far. */
interface MessagePage {
  readonly calls: Map<string, ThreadCallPart>;
  readonly onError: (error: Error) => string;
}

function shownPart(part: Part, page: MessagePage): UIPart[] {
  switch (part.kind) {
    case "text":
      return part.text === "" ? [] : [{ type: "text", text: part.text, state: "done" }];
    case "reasoning":
      return part.text === "" ? [] : [{ type: "reasoning", text: part.text, state: "done" }];
    case "call": {
      const call = {
        type: `tool-${part.name}`,
        toolCallId: part.id,
        state: "input-available",
        input: jsonOr(part.input, part.input),
      };
      page.calls.set(part.id, call);
      return [call as UIPart];
    }
    case "image": {
      const { source, mediaType, name } = part;
      const type = mediaType ?? "image/png";
      const url = source.kind === "url" ? source.url : `data:${type};base64,${source.data}`;
      return [{ type: "file", mediaType: type, url, ...(name !== undefined && { filename: name }) }];
    }
    case "file": {
      const mediaType = part.mediaType ?? "application/octet-stream";
      const data = part.encoding === "text" ? Buffer.from(part.data).toString("base64") : part.data;
      const url = part.ref ?? `data:${mediaType};base64,${data}`;
      return [{ type: "file", mediaType, url, ...(part.name !== null && { filename: part.name }) }];
    }
    case "other":
      return providerPart(part, page);
    case "result":
      return [];
  }
}

/** What the provider's own tools did stands within an answer, as blocks that are not interpreted here. */
function providerPart({ type, json }: Part & { kind: "other" }, { calls, onError }: MessagePage): UIPart[] {
  if (type !== "tool-call" && type !== "tool-result") return [];
  const { toolCallId = "", toolName, input, output } = jsonOr(json, json) as Partial<AiSdkCall>;
  if (type === "tool-call") {
    const call = { type: `tool-${toolName}`, toolCallId, state: "input-available", input, providerExecuted: true };
    calls.set(toolCallId, call);
    return [call as UIPart];
  }
  const failed = output?.type?.startsWith("error") === true;
  const end = failed
    ? { state: "output-error", errorText: onError(new Error(JSON.stringify(output.value))) }
    : { state: "output-available", output: output?.value };
  Object.assign(calls.get(toolCallId) ?? {}, end);
  return [];
}

interface AiSdkCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly output: { readonly type?: string; readonly value?: unknown };
}

interface ToldMessage {
  readonly message: object;
  readonly onError: (error: Error) => string;
}

function settle(
  call: ThreadCallPart | undefined,
  result: Part & { kind: "result" },
  { message, onError }: ToldMessage,
): void {
  if (call === undefined) return;
  const output = outputOf(message, result.id);
  if (output?.["type"] === "execution-denied") {
    const approval = { id: result.id, approved: false, reason: result.text };
    Object.assign(call, { state: "output-denied", approval });
  } else if (result.isError) Object.assign(call, { state: "output-error", errorText: onError(new Error(result.text)) });
  else
    Object.assign(call, {
      state: "output-available",
      output: output !== null && "value" in output ? output["value"] : result.text,
    });
}

/** As the tool gave it, where the dialect keeps that. */
function outputOf(message: object, id: string): Readonly<Record<string, unknown>> | null {
  const content: unknown = "content" in message ? message.content : null;
  if (!Array.isArray(content)) return null;
  const part: unknown = content.find(
    (one) => isRecord(one) && one["type"] === "tool-result" && one["toolCallId"] === id,
  );
  return isRecord(part) && isRecord(part["output"]) ? part["output"] : null;
}

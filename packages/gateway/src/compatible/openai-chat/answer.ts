/** Reads an answer of chat completions, whole or while its pieces pass by: the first choice, as a client would keep it. */
import type { OpenAiCall, OpenAiMessage } from "@palimpsest/core/message";
import type { AnswerReader, Fields, ReadAnswer } from "../vendor.ts";
import { dataOf, eventParser } from "../wire/server-events.ts";
import { wholeReader } from "../wire/whole-answer.ts";

export function chatReader(form: "stream" | "whole"): AnswerReader<OpenAiMessage> {
  return form === "stream" ? streamReader() : wholeReader(wholeAnswer);
}

function wholeAnswer(body: Fields | null): ReadAnswer<OpenAiMessage> {
  const choice = firstChoice(body);
  const message = (choice?.["message"] ?? null) as OpenAiMessage | null;
  const usage = (body?.["usage"] ?? null) as object | null;
  return { message, usage, state: message === null ? "open" : "ended", error: null };
}

interface Draft {
  content: string;
  reasoning: string;
  refusal: string;
  readonly calls: Map<number, { id: string; name: string; text: string }>;
}

function streamReader(): AnswerReader<OpenAiMessage> {
  const events = eventParser();
  const draft: Draft = { content: "", reasoning: "", refusal: "", calls: new Map() };
  let usage: object | null = null;
  let state: ReadAnswer<OpenAiMessage>["state"] = "open";
  let error: string | null = null;
  return {
    read(bytes) {
      for (const event of events(bytes)) {
        if (event.data === "[DONE]") {
          state = state === "failed" ? "failed" : "ended";
          continue;
        }
        const body = dataOf(event);
        if (body?.["error"]) {
          state = "failed";
          error = event.data;
        }
        if (body?.["usage"]) usage = body["usage"] as object;
        const choice = firstChoice(body);
        if (choice === null) continue;
        addDelta(draft, (choice["delta"] ?? {}) as Fields);
        if (choice["finish_reason"] != null && state === "open") state = "ending";
      }
    },
    state: () => state,
    answer: () => ({ message: messageOf(draft, state), usage, state, error }),
  };
}

function firstChoice(body: Fields | null): Fields | null {
  const choices = body?.["choices"];
  if (!Array.isArray(choices)) return null;
  return (choices as Fields[]).find((choice) => (choice["index"] ?? 0) === 0) ?? null;
}

function addDelta(draft: Draft, delta: Fields): void {
  const { content, reasoning_content: reasoning, refusal, tool_calls: calls } = delta;
  if (typeof content === "string") draft.content += content;
  if (typeof reasoning === "string") draft.reasoning += reasoning;
  if (typeof refusal === "string") draft.refusal += refusal;
  if (!Array.isArray(calls)) return;
  for (const { index = 0, id, function: called } of calls as CallDelta[]) {
    const call = draft.calls.get(index) ?? { id: "", name: "", text: "" };
    draft.calls.set(index, call);
    if (id) call.id = id;
    if (called?.name) call.name = called.name;
    call.text += called?.arguments ?? "";
  }
}

interface CallDelta {
  readonly index?: number;
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

/** Of an answer that was cut off, calls whose arguments are not whole are no calls. */
function messageOf(draft: Draft, state: ReadAnswer<OpenAiMessage>["state"]): OpenAiMessage | null {
  const isWhole = state === "ending" || state === "ended";
  const calls = [...draft.calls.entries()]
    .toSorted(([a], [b]) => a - b)
    .map(([, { id, name, text }]): OpenAiCall => ({ id, type: "function", function: { name, arguments: text } }))
    .filter((call) => isWhole || isJson(call.function.arguments));
  const { content, reasoning, refusal } = draft;
  if (calls.length === 0 && content === "" && refusal === "" && (reasoning === "" || !isWhole)) {
    if (!isWhole) return null;
  }
  return {
    role: "assistant",
    content: content === "" && (calls.length > 0 || refusal !== "") ? null : content,
    ...(refusal !== "" && { refusal }),
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

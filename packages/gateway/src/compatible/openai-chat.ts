/** OpenAI chat completions: its requests, its errors. How its answers are read is in `answer.ts`. */

import { jsonOr, type OpenAiCall, type OpenAiMessage, openaiShape } from "@palimpsest/core/internal/message";
import { eventText } from "../http/event-stream.ts";
import { fieldsOf, type JsonFields, listIn, numberIn, objectOf, parseFields } from "../http/read-json.ts";
import type { AnswerPiece, AnswerWriter, PieceCall, PieceEnd } from "./converted-answer.ts";
import { type CheckedMessages, common, leadingIn, readItems } from "./front.ts";
import { chatTools } from "./own-tools/chat.ts";
import { eventParser, wholeReader } from "./passage.ts";
import type {
  AnswerReader,
  AnswerWriterOptions,
  ReadAnswer,
  Vendor,
  VendorFailure,
  VendorRequestResult,
} from "./vendor.ts";

export const openaiChat: Vendor<OpenAiMessage> = {
  name: "openai-chat",
  shape: openaiShape,
  path: "/chat/completions",
  countPath: null,
  field: "messages",
  providers: ["openai", "openai-compatible"],
  address: "https://api.openai.com/v1",
  key: (key) => ({ authorization: `Bearer ${key}` }),
  read: readBody,
  write: ({ request, messages }) => [...request.leading, ...messages],
  reader: chatReader,
  tools: chatTools,
  thinks: () => false,
  writer: chatWriter,
  failure: openaiFailure,
  streamFailure: (failure) => event(openaiFailure(failure)),
  counted: (tokens) => ({ input_tokens: tokens }),
};

function readBody(body: JsonFields, checked: CheckedMessages | null): VendorRequestResult<OpenAiMessage> {
  const given = body["messages"];
  if (!Array.isArray(given) || given.length === 0)
    return { kind: "problem", message: "'messages' must be a list of at least one message" };
  const read = readItems("openai", given, checked);
  if (read.kind === "problem") return { kind: "problem", message: read.detail };
  const all = read.items;
  const leading = leadingIn(all, openaiShape);
  return {
    kind: "request",
    request: {
      ...common(body),
      leading,
      messages: all.slice(leading.length),
      system: leading
        .flatMap((message) => openaiShape.parts(message).map((part) => ("text" in part ? part.text : "")))
        .join("\n\n"),
      tools: [...listIn(body["tools"]), ...listIn(body["functions"])],
      maxTokens: numberIn(body["max_completion_tokens"], body["max_tokens"]),
      reference: null,
    },
  };
}

/* Reads an answer of chat completions, whole or while its pieces pass by: the first choice, as a client would keep it. */

export function chatReader(form: "stream" | "whole"): AnswerReader<OpenAiMessage> {
  return form === "stream" ? streamReader() : wholeReader(wholeAnswer);
}

function wholeAnswer(body: JsonFields | null): ReadAnswer<OpenAiMessage> {
  const choice = firstChoice(body);
  const message = (choice?.["message"] ?? null) as OpenAiMessage | null;
  const usage = objectOf(body?.["usage"]);
  return { message, usage, state: message === null ? "open" : "ended", error: null };
}

interface ChatDraft {
  content: string;
  reasoning: string;
  refusal: string;
  readonly calls: Map<number, { id: string; name: string; text: string }>;
}

function streamReader(): AnswerReader<OpenAiMessage> {
  const events = eventParser();
  const draft: ChatDraft = { content: "", reasoning: "", refusal: "", calls: new Map() };
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
        const body = parseFields(event.data);
        if (body?.["error"]) {
          state = "failed";
          error = event.data;
        }
        usage = objectOf(body?.["usage"]) ?? usage;
        const choice = firstChoice(body);
        if (choice === null) continue;
        addDelta(draft, fieldsOf(choice["delta"]));
        if (choice["finish_reason"] != null && state === "open") state = "ending";
      }
    },
    state: () => state,
    answer: () => ({ message: messageOf(draft, state), usage, state, error }),
  };
}

function firstChoice(body: JsonFields | null): JsonFields | null {
  return objectOf(listIn(body?.["choices"]).find((choice) => (fieldsOf(choice)["index"] ?? 0) === 0));
}

function addDelta(draft: ChatDraft, delta: JsonFields): void {
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
function messageOf(draft: ChatDraft, state: ReadAnswer<OpenAiMessage>["state"]): OpenAiMessage | null {
  const isWhole = state === "ending" || state === "ended";
  const calls = [...draft.calls.entries()]
    .toSorted(([a], [b]) => a - b)
    .map(([, { id, name, text }]): OpenAiCall => ({ id, type: "function", function: { name, arguments: text } }))
    .filter((call) => isWhole || jsonOr(call.function.arguments, undefined) !== undefined);
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

/* Writes an answer that isn't OpenAI's as chat completions: as chunks, or whole. */

export function chatWriter({ id, model, body }: AnswerWriterOptions): AnswerWriter {
  const base = (object: string) => ({ id: `chatcmpl-${id}`, object, created: Math.floor(Date.now() / 1000), model });
  const chunk = (delta: unknown, finish: string | null = null): string =>
    event({ ...base("chat.completion.chunk"), choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
  const reportsUsage = fieldsOf(body["stream_options"])["include_usage"] === true;
  const calls: PieceCall[] = [];
  let text = "";
  let ended: PieceEnd | null = null;
  return {
    begin: () => chunk({ role: "assistant", content: "" }),
    add(piece: AnswerPiece) {
      switch (piece.type) {
        case "text":
          text += piece.text;
          return chunk({ content: piece.text });
        case "call":
          return chunk({ tool_calls: [{ index: calls.push(piece.call) - 1, ...callOf(piece.call) }] });
        case "end": {
          ended = piece.end;
          const usage = event({ ...base("chat.completion.chunk"), choices: [], usage: usageOf(piece.end) });
          return `${chunk({}, REASONS[piece.end.reason])}${reportsUsage ? usage : ""}data: [DONE]\n\n`;
        }
      }
    },
    whole: () => ({
      ...base("chat.completion"),
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: text === "" && calls.length > 0 ? null : text,
            refusal: null,
            ...(calls.length > 0 && { tool_calls: calls.map(callOf) }),
          },
          logprobs: null,
          finish_reason: REASONS[ended?.reason ?? "stop"],
        },
      ],
      usage: usageOf(ended),
    }),
  };
}

const event = (data: unknown): string => eventText(JSON.stringify(data));

const callOf = ({ id, name, input }: PieceCall) => ({ id, type: "function", function: { name, arguments: input } });

const REASONS = { stop: "stop", length: "length", calls: "tool_calls", filtered: "content_filter" } as const;

function usageOf(end: PieceEnd | null) {
  const { input = 0, output = 0, cached = 0, reasoning = 0 } = end ?? {};
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

/* An error as OpenAI words it, for both of its protocols. */

export function openaiFailure({ status, code, message, param = null }: VendorFailure): unknown {
  return {
    error: {
      message,
      type: TYPES[status] ?? (status >= 500 ? "server_error" : "invalid_request_error"),
      param,
      code: CODES[code] ?? code,
    },
  };
}

const TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  429: "rate_limit_error",
};

/** Where OpenAI has a word of its own. */
const CODES: Readonly<Record<string, string>> = {
  "no-key": "invalid_api_key",
  "bad-key": "invalid_api_key",
  "no-model": "model_not_found",
  limited: "rate_limit_exceeded",
  "too-long": "context_length_exceeded",
};

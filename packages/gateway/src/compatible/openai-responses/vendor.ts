/** OpenAI's Responses API: its requests, its errors. How its answers are read is in `answer.ts`. */

import type { ResponsesItem, ResponsesMessage } from "@palimpsest/core/internal/message";
import { responsesItems, responsesTurns } from "@palimpsest/core/internal/message";
import { typedEvent } from "../../http/event-stream.ts";
import { fieldsOf, type JsonFields, listIn, numberIn, objectOf } from "../../http/read-json.ts";
import { isItemReference } from "../account-ids.ts";
import type { AnswerPiece, AnswerWriter, PieceCall, PieceEnd } from "../converted-answer.ts";
import { type CheckedMessages, common, leadingIn, readItems } from "../front.ts";
import { openaiFailure } from "../openai-chat.ts";
import { responsesTools } from "../own-tools/responses.ts";
import { objectReader, wholeReader } from "../passage.ts";
import type { AnswerReader, AnswerWriterOptions, ReadAnswer, Vendor, VendorRequestResult } from "../vendor.ts";
import { isOurs } from "./compaction-item.ts";
import { holdResponses } from "./hold.ts";
import { responseBody, responsesShape, responsesUsage } from "./params.ts";

const shape = responsesShape;

export const openaiResponses: Vendor<ResponsesMessage> = {
  name: "openai-responses",
  shape,
  path: "/responses",
  countPath: "/responses/input_tokens",
  field: "input",
  providers: ["openai"],
  address: "https://api.openai.com/v1",
  key: (key) => ({ authorization: `Bearer ${key}` }),
  read: readBody,
  write: ({ request, messages }) => [...request.leading, ...responsesItems(messages)],
  reader: responsesReader,
  tools: responsesTools,
  thinks: () => false,
  writer: responsesWriter,
  hold: holdResponses,
  failure: openaiFailure,
  streamFailure: ({ code, message, param = null }) =>
    typedEvent({ type: "error", code, message, param, sequence_number: 0 }),
  counted: (tokens) => ({ object: "response.input_tokens", input_tokens: tokens }),
};

function readBody(body: JsonFields, checked: CheckedMessages | null): VendorRequestResult<ResponsesMessage> {
  const { input } = body;
  const items: readonly unknown[] = typeof input === "string" ? [{ role: "user", content: input }] : listIn(input);
  const read = readItems("openai-responses", items, checked);
  if (read.kind === "problem") return { kind: "problem", message: read.detail };
  const all = items as readonly ResponsesItem[];
  const leading = leadingIn(all, shape);
  const told = leading.flatMap((item) => shape.parts(item).map((part) => ("text" in part ? part.text : "")));
  return {
    kind: "request",
    request: {
      ...common(body),
      leading,
      messages: responsesTurns(all.slice(leading.length)),
      system: [...(typeof body["instructions"] === "string" ? [body["instructions"]] : []), ...told].join("\n\n"),
      tools: listIn(body["tools"]),
      maxTokens: numberIn(body["max_output_tokens"]),
      reference: referenceIn(body, all),
    },
  };
}

/** What OpenAI keeps itself: the conversation before this, or an item that is only named. */
function referenceIn(
  { previous_response_id: previous, conversation }: JsonFields,
  items: readonly ResponsesItem[],
): string | null {
  if (typeof previous === "string") return previous;
  if (conversation != null) return "conversation";
  return items.some((item) => isItemReference(item) || item.type === "compaction_trigger") ? "item" : null;
}

/* Reads an answer of the Responses API, whole or while its events pass by: the items of one turn. */

export function responsesReader(form: "stream" | "whole"): AnswerReader<ResponsesMessage> {
  return form === "stream" ? streamReader() : wholeReader(wholeAnswer);
}

function wholeAnswer(body: JsonFields | null): ReadAnswer<ResponsesMessage> {
  const message = turnOf(itemsIn(body));
  const usage = objectOf(body?.["usage"]);
  return { message, usage, state: message === null ? "open" : "ended", error: null };
}

function itemsIn(response: JsonFields | null | undefined): readonly ResponsesItem[] {
  const output = response?.["output"];
  return Array.isArray(output) ? (output as ResponsesItem[]) : [];
}

/** All that one answer did is one turn; an item that we added stands for what is in the log anyway. */
function turnOf(output: readonly ResponsesItem[]): ResponsesMessage | null {
  const items = output.filter((item) => !isOurs(item));
  const turns = responsesTurns(items);
  return turns.length === 1 ? turns[0]! : turns.length === 0 ? null : items;
}

function streamReader(): AnswerReader<ResponsesMessage> {
  /** Items that are done, and the text of those that aren't, by their place. */
  const done = new Map<number, ResponsesItem>();
  const texts = new Map<number, string>();
  let whole: ResponsesMessage | null = null;
  let usage: object | null = null;
  let state: ReadAnswer<ResponsesMessage>["state"] = "open";
  let error: string | null = null;
  const take = (event: JsonFields, data: string): void => {
    const place = Number(event["output_index"] ?? 0);
    switch (event["type"]) {
      case "response.output_item.done":
        done.set(place, event["item"] as ResponsesItem);
        return;
      case "response.output_text.delta":
        texts.set(place, (texts.get(place) ?? "") + String(event["delta"] ?? ""));
        return;
      case "response.completed":
      case "response.incomplete": {
        const response = fieldsOf(event["response"]);
        whole = turnOf(itemsIn(response));
        usage = objectOf(response["usage"]);
        state = "ended";
        return;
      }
      case "response.failed":
      case "error":
        state = "failed";
        error = data;
    }
  };
  return {
    read: objectReader(take),
    state: () => state,
    answer: () => ({ message: whole ?? partOf(done, texts), usage, state, error }),
  };
}

/** What had come of an answer that was cut off. */
function partOf(done: ReadonlyMap<number, ResponsesItem>, texts: ReadonlyMap<number, string>): ResponsesMessage | null {
  const places = [...new Set([...done.keys(), ...texts.keys()])].toSorted((a, b) => a - b);
  const items = places.map((place): ResponsesItem => {
    const text = { type: "output_text", text: texts.get(place) ?? "", annotations: [] };
    return done.get(place) ?? { type: "message", role: "assistant", content: [text] };
  });
  return turnOf(items);
}

/* Writes an answer that isn't OpenAI's as a response: as events in the order its client insists on, or whole. */

interface TextItem {
  readonly type: "message";
  readonly id: string;
  text: string;
}

type ResponseItem = TextItem | { readonly type: "function_call"; readonly id: string; readonly call: PieceCall };

export function responsesWriter({ id, model, body }: AnswerWriterOptions): AnswerWriter {
  const items: ResponseItem[] = [];
  let ended: PieceEnd | null = null;
  let sequence = 0;
  const event = (type: string, fields: object): string => typedEvent({ type, sequence_number: sequence++, ...fields });
  const response = (status: string) =>
    responseBody(body, {
      id: `resp_${id}`,
      created_at: Math.floor(Date.now() / 1000),
      status,
      model,
      output: status === "in_progress" ? [] : items.map((item) => itemOf(item, "completed")),
      incomplete_details: status === "incomplete" ? { reason: INCOMPLETE[ended?.reason ?? ""] } : null,
      usage: ended === null ? null : responsesUsage(ended),
    });
  const endStatus = () => (INCOMPLETE[ended?.reason ?? ""] === undefined ? "completed" : "incomplete");
  const place = () => ({ output_index: items.length - 1 });
  const textPlace = (item: TextItem) => ({ ...place(), item_id: item.id, content_index: 0 });
  const closeText = (): string => {
    const last = items.at(-1);
    if (last?.type !== "message") return "";
    return [
      event("response.output_text.done", { ...textPlace(last), text: last.text, logprobs: [] }),
      event("response.content_part.done", { ...textPlace(last), part: textPart(last.text) }),
      event("response.output_item.done", { ...place(), item: itemOf(last, "completed") }),
    ].join("");
  };
  const addText = (text: string): string => {
    let last = items.at(-1);
    let opening = "";
    if (last?.type !== "message") {
      last = { type: "message", id: `msg_${id}_${items.length}`, text: "" };
      items.push(last);
      opening =
        event("response.output_item.added", { ...place(), item: itemOf(last, "in_progress") }) +
        event("response.content_part.added", { ...textPlace(last), part: textPart("") });
    }
    last.text += text;
    return opening + event("response.output_text.delta", { ...textPlace(last), delta: text, logprobs: [] });
  };
  const addCall = (call: PieceCall): string => {
    const before = closeText();
    const item: ResponseItem = { type: "function_call", id: `fc_${id}_${items.length}`, call };
    items.push(item);
    const where = { ...place(), item_id: item.id };
    const opened = { ...itemOf(item, "in_progress"), arguments: "" };
    return [
      before,
      event("response.output_item.added", { ...place(), item: opened }),
      event("response.function_call_arguments.delta", { ...where, delta: call.input }),
      event("response.function_call_arguments.done", { ...where, name: call.name, arguments: call.input }),
      event("response.output_item.done", { ...place(), item: itemOf(item, "completed") }),
    ].join("");
  };
  return {
    begin: () =>
      event("response.created", { response: response("in_progress") }) +
      event("response.in_progress", { response: response("in_progress") }),
    add(piece: AnswerPiece) {
      if (piece.type === "text") return addText(piece.text);
      if (piece.type === "call") return addCall(piece.call);
      const before = closeText();
      ended = piece.end;
      const status = endStatus();
      return before + event(`response.${status}`, { response: response(status) });
    },
    whole: () => response(endStatus()),
  };
}

/** Why a response can be incomplete. */
const INCOMPLETE: Readonly<Record<string, string>> = { length: "max_output_tokens", filtered: "content_filter" };

const textPart = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] });

function itemOf(item: ResponseItem, status: "in_progress" | "completed") {
  if (item.type === "message") {
    const content = status === "completed" ? [textPart(item.text)] : [];
    return { type: "message", id: item.id, status, role: "assistant", content };
  }
  const { id: callId, name, input } = item.call;
  return { type: "function_call", id: item.id, status, call_id: callId, name, arguments: input };
}

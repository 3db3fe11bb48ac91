/** Writes an answer that isn't OpenAI's as a response: as events in the order its client insists on, or whole. */
import type { AnswerWriter, Piece, PieceCall, PieceEnd } from "../converted/pieces.ts";
import type { WriterOptions } from "../vendor.ts";
import { responsesUsage } from "./usage.ts";

interface TextItem {
  readonly type: "message";
  readonly id: string;
  text: string;
}

type Item = TextItem | { readonly type: "function_call"; readonly id: string; readonly call: PieceCall };

export function responsesWriter({ id, model, body }: WriterOptions): AnswerWriter {
  const items: Item[] = [];
  let ended: PieceEnd | null = null;
  let sequence = 0;
  const event = (type: string, fields: object): string => {
    const data = { type, sequence_number: sequence++, ...fields };
    return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  };
  const response = (status: string) => ({
    id: `resp_${id}`,
    object: "response",
    created_at: Math.floor(Date.now() / 1000),
    status,
    model,
    output: status === "in_progress" ? [] : items.map((item) => itemOf(item, "completed")),
    error: null,
    incomplete_details: status === "incomplete" ? { reason: INCOMPLETE[ended?.reason ?? ""] } : null,
    instructions: body["instructions"] ?? null,
    metadata: body["metadata"] ?? {},
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    temperature: body["temperature"] ?? null,
    tool_choice: body["tool_choice"] ?? "auto",
    tools: body["tools"] ?? [],
    top_p: body["top_p"] ?? null,
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
    const item: Item = { type: "function_call", id: `fc_${id}_${items.length}`, call };
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
    add(piece: Piece) {
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

function itemOf(item: Item, status: "in_progress" | "completed") {
  if (item.type === "message") {
    const content = status === "completed" ? [textPart(item.text)] : [];
    return { type: "message", id: item.id, status, role: "assistant", content };
  }
  const { id: callId, name, input } = item.call;
  return { type: "function_call", id: item.id, status, call_id: callId, name, arguments: input };
}

/** Reads an answer of the Messages API, whole or while its events pass by, as a client would keep it. */
import type { AnthropicBlock, AnthropicMessage } from "@palimpsest/core/message";
import type { AnswerReader, Fields, ReadAnswer } from "../vendor.ts";
import { objectReader } from "../wire/server-events.ts";
import { wholeReader } from "../wire/whole-answer.ts";
import { kindOfBlock } from "./compaction-block.ts";

export function messagesReader(form: "stream" | "whole"): AnswerReader<AnthropicMessage> {
  return form === "stream" ? streamReader() : wholeReader(wholeAnswer);
}

function wholeAnswer(body: Fields | null): ReadAnswer<AnthropicMessage> {
  const content = body?.["content"];
  if (!Array.isArray(content)) return { message: null, usage: null, state: "open", error: null };
  const said = (content as AnthropicBlock[]).filter(isSaid);
  const message: AnthropicMessage = { role: "assistant", content: said };
  return { message: said.length === 0 ? null : message, usage: usageIn(body), state: "ended", error: null };
}

function usageIn(fields: Fields | null | undefined): object | null {
  const usage = fields?.["usage"];
  return typeof usage === "object" && usage !== null ? usage : null;
}

/** A compaction that we put before an answer is no part of it. */
function isSaid(block: AnthropicBlock): boolean {
  return kindOfBlock(block as unknown as Fields) === null;
}

/** A block while it grows. */
interface Draft {
  readonly block: Record<string, unknown>;
  json: string;
  done: boolean;
}

function streamReader(): AnswerReader<AnthropicMessage> {
  const drafts: Draft[] = [];
  let usage: object | null = null;
  let state: ReadAnswer<AnthropicMessage>["state"] = "open";
  let error: string | null = null;
  const take = (event: Fields, data: string): void => {
    const index = Number(event["index"] ?? 0);
    switch (event["type"]) {
      case "message_start":
        usage = usageIn(event["message"] as Fields | undefined);
        return;
      case "content_block_start":
        drafts[index] = { block: { ...(event["content_block"] as object) }, json: "", done: false };
        return;
      case "content_block_delta":
        addDelta(drafts[index], (event["delta"] ?? {}) as Fields);
        return;
      case "content_block_stop":
        if (drafts[index] !== undefined) drafts[index].done = true;
        return;
      case "message_delta":
        usage = { ...usage, ...usageIn(event) };
        if ((event["delta"] as Fields | undefined)?.["stop_reason"] != null) state = "ending";
        return;
      case "message_stop":
        state = "ended";
        return;
      case "error":
        state = "failed";
        error = data;
    }
  };
  return {
    read: objectReader(take),
    state: () => state,
    answer: () => ({ message: messageOf(drafts, state), usage, state, error }),
  };
}

/** Fields that grow by a delta of their own name. */
const GROWING = { text_delta: "text", thinking_delta: "thinking", signature_delta: "signature" } as const;

function addDelta(draft: Draft | undefined, delta: Fields): void {
  if (draft === undefined) return;
  const type = String(delta["type"]);
  if (type === "compaction_delta") Object.assign(draft.block, compactionIn(delta));
  if (type === "input_json_delta") draft.json += String(delta["partial_json"] ?? "");
  if (type === "citations_delta")
    draft.block["citations"] = [...((draft.block["citations"] as unknown[] | null) ?? []), delta["citation"]];
  if (!Object.hasOwn(GROWING, type)) return;
  const field = GROWING[type as keyof typeof GROWING];
  draft.block[field] = String(draft.block[field] ?? "") + String(delta[field] ?? "");
}

/** It comes whole. */
function compactionIn({ content = null, encrypted_content: encrypted }: Fields): Fields {
  return { content, ...(encrypted !== undefined && { encrypted_content: encrypted }) };
}

/** Of an answer that was cut off, what isn't whole and can't be understood in part is left out. */
function messageOf(drafts: readonly Draft[], state: ReadAnswer<AnthropicMessage>["state"]): AnthropicMessage | null {
  const isWhole = state === "ending" || state === "ended";
  const content = drafts.flatMap(({ block, json, done }): AnthropicBlock[] => {
    const isPartial = !done && !isWhole;
    if (isPartial && block["type"] !== "text") return [];
    if (block["type"] === "text" && block["text"] === "" && !isWhole) return [];
    return [(json === "" ? block : { ...block, input: inputOf(json) }) as unknown as AnthropicBlock];
  });
  const said = content.filter(isSaid);
  return said.length === 0 ? null : { role: "assistant", content: said };
}

function inputOf(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

/**
 * A rollout of Codex: JSON lines of items of the Responses API, among events and the settings of each turn. Newer ones wrap
 * each item (`{type: "response_item", payload}`), older ones are the items, after a line about the session.
 */

import { isRecord } from "@palimpsest/core/internal/text";
import { readUsage } from "../../models/read-usage.ts";
import type { ImportedMessage } from "../conversation.ts";
import { timeOf } from "../time.ts";
import { type Format, madeMessage, notesOf } from "./format.ts";

type Fields = Readonly<Record<string, unknown>>;

const LINES = ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];

export const codex: Format = {
  name: "Codex rollout",
  recognizes: ({ type, payload }) => LINES.includes(String(type)) && isRecord(payload),
  read(values) {
    const messages: ImportedMessage[] = [];
    const left: string[] = [];
    let model: string | null = null;
    let instructions: string | null = null;
    for (const { value, place } of values) {
      const payload = (value["payload"] ?? {}) as Fields;
      if (value["type"] === "turn_context" && typeof payload["model"] === "string") model = payload["model"];
      if (value["type"] === "session_meta") instructions = instructionsOf(payload) ?? instructions;
      if (value["type"] === "compacted") left.push("Codex's own compaction; what it hid is imported");
      if (value["type"] === "event_msg") report(messages, payload);
      if (value["type"] !== "response_item") continue;
      if (payload["type"] === "ghost_snapshot") left.push("a snapshot of the repository");
      else messages.push(madeMessage(itemOf(payload), { place, at: timeOf(value["timestamp"]), model }));
    }
    const request = instructions === null ? null : { system: instructions };
    return {
      conversations: messages.length === 0 ? [] : [{ place: "", messages, request, questions: [] }],
      skipped: values.length - messages.length,
      notes: notesOf("", left),
    };
  },
};

function instructionsOf({ base_instructions, instructions }: Fields): string | null {
  const prompt = isRecord(base_instructions) ? base_instructions["text"] : instructions;
  return typeof prompt === "string" && prompt !== "" ? prompt : null;
}

/** Older versions wrote an output as an object. */
function itemOf(payload: Fields): Fields {
  const { output } = payload;
  if (!isRecord(output)) return payload;
  return { ...payload, output: typeof output["content"] === "string" ? output["content"] : JSON.stringify(output) };
}

/** What the provider reported for the answer before it. */
function report(messages: ImportedMessage[], payload: Fields): void {
  const info =
    payload["type"] === "token_count" && isRecord(payload["info"]) ? payload["info"]["last_token_usage"] : null;
  const last = messages.at(-1);
  if (!isRecord(info) || last === undefined) return;
  const usage = readUsage({ input_tokens: info["input_tokens"], output_tokens: info["output_tokens"] });
  const cacheRead = typeof info["cached_input_tokens"] === "number" ? info["cached_input_tokens"] : 0;
  if (usage !== null) messages.splice(-1, 1, { ...last, usage: { ...usage, cacheRead } });
}

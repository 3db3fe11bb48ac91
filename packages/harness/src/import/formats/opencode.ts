/**
 * A session of opencode, as `opencode export` writes it: `{info, messages: [{info, parts}]}`. An answer holds its calls with
 * their results; the API has results in a message of the user, so an answer becomes several. Read as Anthropic messages.
 */

import { isRecord } from "@palimpsest/core/internal/text";
import type { Usage } from "../../models/facts.ts";
import type { ImportedMessage } from "../conversation.ts";
import { timeOf } from "../time.ts";
import {
  type Format,
  type FormatFields,
  listOf,
  madeMessage,
  oneValueEach,
  type PlacedValue,
  type ReadConversation,
  sourceOf,
  turnsSaid,
  wordsIn,
} from "./format.ts";

export const opencode: Format = {
  id: "opencode",
  name: "opencode session",
  dialect: "anthropic",
  recognizes: ({ info, messages }) =>
    isRecord(info) && typeof info["id"] === "string" && Array.isArray(messages) && messages.every(isStored),
  open: () => oneValueEach(readSession),
};

const isStored = (message: unknown): boolean =>
  isRecord(message) && isRecord(message["info"]) && Array.isArray(message["parts"]);

function readSession({ value, place }: PlacedValue): ReadConversation | null {
  const { info, messages } = value;
  if (!isRecord(info) || !Array.isArray(messages)) return null;
  const left: string[] = [];
  const within = place === "" ? "" : `${place}, `;
  const said = listOf(messages).flatMap((message, index) =>
    readTurn(message, { left, place: `${within}message ${index + 1}` }),
  );
  const about = { project: wordsIn(info["directory"]), parent: wordsIn(info["parentID"]) };
  const source = sourceOf("opencode", wordsIn(info["id"]), about);
  return { conversation: { messages: said, title: wordsIn(info["title"]), source }, left };
}

interface OpenCodeReading {
  readonly left: string[];
  readonly place: string;
}

function readTurn(message: FormatFields, { left, place }: OpenCodeReading): readonly ImportedMessage[] {
  const info: FormatFields = isRecord(message["info"]) ? message["info"] : {};
  const isUser = info["role"] === "user";
  const { turns, say } = turnsSaid();
  for (const part of listOf(message["parts"])) {
    const { call, result, block } = readPart(part, left);
    if (block !== undefined) say(isUser ? "user" : "assistant", block);
    if (call !== undefined) say("assistant", call);
    if (result !== undefined) say("user", result);
  }
  const time = isRecord(info["time"]) ? info["time"]["created"] : undefined;
  const [at, model] = [timeOf(time), wordsIn(info["modelID"])];
  const last = turns.findLastIndex(({ role }) => role === "assistant");
  return turns.map((turn, index) =>
    madeMessage(turn, { place, at, model, usage: index === last ? usageOf(info["tokens"]) : null }),
  );
}

interface ReadPart {
  readonly block?: FormatFields;
  readonly call?: FormatFields;
  readonly result?: FormatFields;
}

function readPart(part: FormatFields, left: string[]): ReadPart {
  switch (part["type"]) {
    case "text":
      return wordsIn(part["text"]) === null ? {} : { block: { type: "text", text: part["text"] } };
    case "reasoning":
      return wordsIn(part["text"]) === null
        ? {}
        : { block: { type: "thinking", thinking: part["text"], signature: "" } };
    case "tool":
      return readTool(part);
    case "file": {
      const name = wordsIn(part["filename"]) ?? wordsIn(part["mime"]) ?? "unnamed";
      left.push("the content of a file; its name is kept");
      return { block: { type: "text", text: `[file: ${name}]` } };
    }
    default:
      if (!SILENT.includes(String(part["type"]))) left.push(`a part of the type ${String(part["type"])}`);
      return {};
  }
}

/** Parts that mark where something begins or what was saved, without words. */
const SILENT = ["step-start", "step-finish", "snapshot", "patch"];

function readTool({ callID, tool, state }: FormatFields): ReadPart {
  const { input, output, error, status }: FormatFields = isRecord(state) ? state : {};
  const id = String(callID);
  const call = { type: "tool_use", id, name: String(tool), input: isRecord(input) ? input : {} };
  if (status !== "completed" && status !== "error") return { call };
  const failed = status === "error";
  const content = String((failed ? error : output) ?? "");
  return { call, result: { type: "tool_result", tool_use_id: id, content, ...(failed && { is_error: true }) } };
}

/** The cached part stands beside `input`. */
function usageOf(tokens: unknown): Usage | null {
  if (!isRecord(tokens)) return null;
  const number = (value: unknown): number => (typeof value === "number" && value >= 0 ? value : 0);
  const cache: FormatFields = isRecord(tokens["cache"]) ? tokens["cache"] : {};
  const [cacheRead, cacheWrite] = [number(cache["read"]), number(cache["write"])];
  const output = number(tokens["output"]) + number(tokens["reasoning"]);
  return { input: number(tokens["input"]) + cacheRead + cacheWrite, output, cacheRead, cacheWrite };
}

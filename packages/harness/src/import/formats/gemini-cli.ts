/**
 * A session of gemini-cli, one document or JSON lines: what was said, with the calls of an answer and their results beside
 * it. Lines can repeat a message as it grew, take back everything from one on, or set fields of the session.
 */

import { isRecord } from "@palimpsest/core/internal/text";
import { readUsage } from "../../models/read-usage.ts";
import type { ImportedConversation, ImportedMessage } from "../conversation.ts";
import { timeOf } from "../time.ts";
import { type Format, madeMessage, notesOf, type PlacedValue } from "./format.ts";

type Fields = Readonly<Record<string, unknown>>;

export const geminiCli: Format = {
  name: "gemini-cli session",
  recognizes: ({ sessionId, projectHash }) => typeof sessionId === "string" && typeof projectHash === "string",
  read(values) {
    const left: string[] = [];
    const turns = saidIn(values);
    const messages = turns.flatMap(({ value, place }) => readTurn(value, { left, place }));
    const conversation: ImportedConversation = { place: "", messages, request: null, questions: [] };
    return {
      conversations: messages.length === 0 ? [] : [conversation],
      skipped: values.length - turns.length,
      notes: notesOf("", left),
    };
  },
};

function saidIn(values: readonly PlacedValue[]): readonly PlacedValue[] {
  const turns = new Map<string, PlacedValue>();
  const take = (value: Fields, place: string) => {
    if (typeof value["id"] === "string" && typeof value["type"] === "string") turns.set(value["id"], { value, place });
  };
  for (const { value, place } of values) {
    const list = value["messages"] ?? (isRecord(value["$set"]) ? value["$set"]["messages"] : undefined);
    const back = value["$rewindTo"];
    if (Array.isArray(list))
      for (const [index, one] of list.filter(isRecord).entries()) take(one, `message ${index + 1}`);
    else if (typeof back === "string") {
      const ids = [...turns.keys()];
      for (const id of ids.slice(Math.max(0, ids.indexOf(back)))) turns.delete(id);
    } else take(value, place);
  }
  return [...turns.values()];
}

function readTurn(
  message: Fields,
  { left, place }: { readonly left: string[]; readonly place: string },
): readonly ImportedMessage[] {
  const { type, content } = message;
  const at = timeOf(message["timestamp"]);
  const parts = partsOf(content);
  if (type === "user") return parts.length === 0 ? [] : [madeMessage({ role: "user", parts }, { place, at })];
  if (type !== "gemini") return left.push(`a message of the type ${String(type)}`) > 0 ? [] : [];
  const calls = listOf(message["toolCalls"]);
  const thoughts = listOf(message["thoughts"]).map((thought) => ({
    text: [thought["subject"], thought["description"]].filter((one) => typeof one === "string").join("\n"),
    thought: true,
  }));
  const called = calls.map(({ id, name, args }) => ({ functionCall: { id, name, args: args ?? {} } }));
  const answer = [...thoughts, ...parts, ...called];
  const model = typeof message["model"] === "string" ? message["model"] : null;
  if (answer.length === 0) return [];
  const imported = madeMessage(
    { role: "model", parts: answer },
    { place, at, model, usage: usageOf(message["tokens"]) },
  );
  const results = calls.flatMap(resultOf);
  return results.length === 0 ? [imported] : [imported, madeMessage({ role: "user", parts: results }, { place, at })];
}

const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isRecord) : []);

/** Text, a part, or a list of either. */
function partsOf(content: unknown): readonly Fields[] {
  if (typeof content === "string") return content === "" ? [] : [{ text: content }];
  if (Array.isArray(content)) return content.flatMap(partsOf);
  return isRecord(content) ? [content] : [];
}

/** The answer as it was sent to the model; what was only shown stands in for it. */
function resultOf({ id, name, result, resultDisplay, status }: Fields): readonly Fields[] {
  const sent = partsOf(result).filter((part) => isRecord(part["functionResponse"]));
  if (sent.length > 0)
    return sent
      .map((part) => ({ functionResponse: { ...(part["functionResponse"] as Fields), id, name } }))
      .slice(0, 1);
  const text =
    partsOf(result)
      .map((part) => String(part["text"] ?? ""))
      .join("\n") || (typeof resultDisplay === "string" ? resultDisplay : "");
  if (text === "" && status !== "error" && status !== "cancelled") return [];
  return [{ functionResponse: { id, name, response: status === "error" ? { error: text } : { output: text } } }];
}

function usageOf(tokens: unknown): ImportedMessage["usage"] {
  if (!isRecord(tokens)) return null;
  const usage = readUsage({ input: tokens["input"], output: tokens["output"] });
  return usage === null ? null : { ...usage, cacheRead: typeof tokens["cached"] === "number" ? tokens["cached"] : 0 };
}

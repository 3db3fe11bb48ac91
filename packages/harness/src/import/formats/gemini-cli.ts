/**
 * A session of gemini-cli, one document or JSON lines: what was said, with the calls of an answer and their results beside
 * it. Lines can repeat a message as it grew, take back everything from one on, or set fields of the session.
 */

import { join } from "node:path";
import { isRecord } from "@palimpsest/core/internal/text";
import { readUsage } from "../../models/facts.ts";
import type { ImportedMessage } from "../conversation.ts";
import { type ImportPiece, openedThread } from "../piece.ts";
import { timeOf } from "../time.ts";
import {
  type Format,
  type FormatFields,
  listOf,
  madeMessage,
  type PieceReader,
  type PlacedValue,
  sourceOf,
  wordsIn,
} from "./format.ts";

export const geminiCli: Format = {
  id: "gemini-cli",
  name: "gemini-cli session",
  dialect: "gemini",
  folder: (_, home) => join(home, ".gemini", "tmp"),
  recognizes: ({ sessionId, projectHash }) => typeof sessionId === "string" && typeof projectHash === "string",
  open: openSession,
};

/** A message can grow in later lines, so pieces are emitted at the end. */
function openSession(): PieceReader {
  const turns = new Map<string, GeminiTurn>();
  let head: FormatFields | null = null;
  return {
    *read({ value, place }) {
      if (typeof value["projectHash"] === "string") head ??= value;
      const { taken, back } = take(turns, value, place);
      for (const { value: gone } of back)
        yield { kind: "left", place: "", what: `a message that was taken back: ${String(gone["type"])}` };
      if (taken === 0) yield { kind: "skipped" };
    },
    *end(): Iterable<ImportPiece> {
      const left: string[] = [];
      const messages = [...turns.values()].flatMap(({ value, place }) => readTurn(value, { left, place }));
      for (const what of left) yield { kind: "left", place: "", what };
      if (messages.length === 0) return;
      const about = { project: wordsIn(head?.["projectHash"]) };
      yield openedThread("session", { source: sourceOf("gemini-cli", wordsIn(head?.["sessionId"]), about) });
      for (const message of messages) yield { kind: "message", key: "session", message };
    },
  };
}

type GeminiTurn = Pick<PlacedValue, "value" | "place">;

function take(
  turns: Map<string, GeminiTurn>,
  value: FormatFields,
  place: string,
): { readonly taken: number; readonly back: readonly GeminiTurn[] } {
  const keep = (one: FormatFields, at: string): number => {
    if (typeof one["id"] !== "string" || typeof one["type"] !== "string") return 0;
    turns.set(one["id"], { value: one, place: at });
    return 1;
  };
  const list = value["messages"] ?? (isRecord(value["$set"]) ? value["$set"]["messages"] : undefined);
  const rewound = value["$rewindTo"];
  if (Array.isArray(list)) {
    const kept = list.filter(isRecord).map((one, index) => keep(one, `message ${index + 1}`));
    return { taken: kept.reduce((sum, one) => sum + one, 0), back: [] };
  }
  if (typeof rewound !== "string") return { taken: keep(value, place), back: [] };
  const ids = [...turns.keys()];
  const gone = ids.slice(Math.max(0, ids.indexOf(rewound)));
  const back = gone.map((id) => turns.get(id)!);
  for (const id of gone) turns.delete(id);
  return { taken: 0, back };
}

function readTurn(
  message: FormatFields,
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

/** Text, a part, or a list of either. */
function partsOf(content: unknown): readonly FormatFields[] {
  if (typeof content === "string") return content === "" ? [] : [{ text: content }];
  if (Array.isArray(content)) return content.flatMap(partsOf);
  return isRecord(content) ? [content] : [];
}

/** The answer as it was sent to the model; what was only shown stands in for it. */
function resultOf({ id, name, result, resultDisplay, status }: FormatFields): readonly FormatFields[] {
  const sent = partsOf(result).filter((part) => isRecord(part["functionResponse"]));
  if (sent.length > 0)
    return sent
      .map((part) => ({ functionResponse: { ...(part["functionResponse"] as FormatFields), id, name } }))
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

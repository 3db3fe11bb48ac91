/**
 * A session of pi: JSON lines after a header. Since version 2 entries name their parent, and one whose parent is not the end
 * of what was said is a fork. Its compactions and the summaries of branches are marks. Read as Anthropic messages.
 */

import { join } from "node:path";
import { isRecord } from "@palimpsest/core/internal/text";
import { readUsage } from "../../models/facts.ts";
import type { ImportedMessage } from "../conversation.ts";
import { type ImportPiece, openedThread, type PieceMark } from "../piece.ts";
import { timeOf } from "../time.ts";
import { type Format, type FormatFields, listOf, madeMessage, type PieceReader, sourceOf, wordsIn } from "./format.ts";

export const pi: Format = {
  id: "pi",
  name: "pi session",
  dialect: "anthropic",
  folder: (_, home) => join(home, ".pi", "agent", "sessions"),
  recognizes: (value) =>
    value["type"] === "session" &&
    typeof value["cwd"] === "string" &&
    ("version" in value || "timestamp" in value || "provider" in value),
  open: openSession,
};

interface PiLine {
  readonly key: string;
  count: number;
}

interface PiSpot {
  readonly line: PiLine;
  readonly count: number;
}

function openSession(): PieceReader {
  const spots = new Map<string, PiSpot>();
  let header: FormatFields = {};
  let current: PiLine | null = null;
  let forks = 0;

  function* lineFor(value: FormatFields): Generator<ImportPiece, PiLine> {
    if (current === null) {
      current = { key: "session", count: 0 };
      const { id, cwd } = header;
      yield openedThread("session", { source: sourceOf("pi", wordsIn(id), { project: wordsIn(cwd) }) });
    }
    const parent = spots.get(String(value["parentId"] ?? "")) ?? { line: current, count: current.count };
    if (parent.count === parent.line.count) {
      current = parent.line;
      return current;
    }
    forks += 1;
    current = { key: `session fork ${forks}`, count: parent.count };
    const fork = { of: parent.line.key, after: parent.count };
    yield openedThread(current.key, { fork });
    return current;
  }

  return {
    *read({ value, place }) {
      const { type, id } = value;
      const mark = markOf(value);
      const left: string[] = [];
      const message = type === "message" || type === "custom_message" ? messageOf(value, { place, left }) : null;
      if (type === "session") header = value;
      for (const what of left) yield { kind: "left", place: "", what };
      if (mark === null && message === null) {
        const parent = spots.get(String(value["parentId"] ?? ""));
        if (typeof id === "string" && parent !== undefined) spots.set(id, parent);
        const name = type === "session_info" ? wordsIn(value["name"]) : null;
        if (name !== null && current !== null) yield { kind: "title", key: "session", title: name };
        else if (!SILENT.includes(String(type)) && left.length === 0)
          yield { kind: "left", place: "", what: `an entry of the type ${String(type)}` };
        yield { kind: "skipped" };
        return;
      }
      const line: PiLine = yield* lineFor(value);
      if (mark !== null) yield { kind: "mark", key: line.key, event: mark };
      if (message !== null) {
        line.count += 1;
        yield { kind: "message", key: line.key, message };
      }
      if (typeof id === "string") spots.set(id, { line, count: line.count });
    },
    *end() {},
  };
}

const SILENT = ["session", "model_change", "thinking_level_change", "label", "session_info"];

function markOf({ type, summary, tokensBefore = null }: FormatFields): PieceMark | null {
  if (type !== "compaction" && type !== "branch_summary") return null;
  return { type: "source-compacted", program: "pi", of: type, tokensBefore, summary: wordsIn(summary) ?? "" };
}

interface PiReading {
  readonly place: string;
  readonly left: string[];
}

function messageOf(entry: FormatFields, { place, left }: PiReading): ImportedMessage | null {
  const message: FormatFields = isRecord(entry["message"]) ? entry["message"] : entry;
  const at = timeOf(entry["timestamp"] ?? message["timestamp"]);
  const made = (role: "user" | "assistant", content: unknown) => madeMessage({ role, content }, { place, at });
  const role = entry["type"] === "custom_message" ? "custom" : message["role"];
  switch (role) {
    case "user":
    case "custom":
    case "hookMessage":
      return made("user", typeof message["content"] === "string" ? message["content"] : blocksOf(message, left));
    case "assistant": {
      const value = { role, content: blocksOf(message, left) };
      if (value.content.length === 0) return null;
      return madeMessage(value, { place, at, model: wordsIn(message["model"]), usage: readUsage(message["usage"]) });
    }
    case "toolResult": {
      const isError = message["isError"] === true ? { is_error: true } : {};
      const result = { tool_use_id: String(message["toolCallId"]), content: blocksOf(message, left), ...isError };
      return made("user", [{ type: "tool_result", ...result }]);
    }
    case "bashExecution":
      return made("user", `$ ${String(message["command"])}\n${String(message["output"] ?? "")}`.trim());
    default:
      left.push(`a message of ${String(role)}`);
      return null;
  }
}

function blocksOf({ content }: FormatFields, left: string[]): readonly FormatFields[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return listOf(content).flatMap((block): readonly FormatFields[] => {
    switch (block["type"]) {
      case "text":
        return [{ type: "text", text: String(block["text"] ?? "") }];
      case "thinking": {
        const signature = String(block["thinkingSignature"] ?? "");
        return [{ type: "thinking", thinking: String(block["thinking"] ?? ""), signature }];
      }
      case "toolCall": {
        const input = isRecord(block["arguments"]) ? block["arguments"] : {};
        return [{ type: "tool_use", id: String(block["id"]), name: String(block["name"]), input }];
      }
      case "image": {
        const source = { type: "base64", media_type: String(block["mimeType"]), data: String(block["data"] ?? "") };
        return [{ type: "image", source }];
      }
      default:
        left.push(`a block of the type ${String(block["type"])}`);
        return [];
    }
  });
}

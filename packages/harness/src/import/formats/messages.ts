/**
 * Messages of a dialect as they are: by themselves, wrapped in lines that say more about them, or in objects that hold a
 * whole conversation. Not one of the formats, but what is left where none is recognized.
 */

import { DIALECTS, definitionOf } from "@palimpsest/core/internal/message";
import { isRecord } from "@palimpsest/core/internal/text";
import { readUsage } from "../../models/facts.ts";
import type { ImportedConversation, ImportedMessage } from "../conversation.ts";
import { elementSlices, memberSlices, withoutBreaks } from "../json-slices.ts";
import { type ImportPiece, openedThread } from "../piece.ts";
import { timeOf } from "../time.ts";
import { checkpointHistory, checkpointOf } from "./checkpoints.ts";
import type { FormatFields, PieceReader, PlacedValue } from "./format.ts";

/** `first`: the first values of the file, which say whether its lines wrap their messages. */
export function openMessages(first: readonly PlacedValue[]): PieceReader {
  // Among lines that wrap their messages, one that only looks like a message is a note about them.
  const isWrapped = first.some(({ value }) => isRecord(value["message"]));
  let loose: string | null = null;
  const whole: string[] = [];
  const history = checkpointHistory();
  return {
    *read(placed) {
      const { value, text, place } = placed;
      const list = heldIn(value, text);
      const checkpoint = checkpointOf(value);
      if (checkpoint !== null) {
        const pieces = list === null ? [] : [...messagesIn({ ...list, place }, "")];
        whole.push(place);
        yield* pieces.filter(({ kind }) => kind === "problem");
        const messages = pieces.flatMap((piece) => (piece.kind === "message" ? [piece.message] : []));
        history.add(checkpoint, messages, place);
        return;
      }
      if (list !== null) {
        whole.push(place);
        yield* conversation(value, { ...list, place });
        return;
      }
      const inner = value["message"];
      const isLoose = isRecord(inner) || "role" in value || (!isWrapped && isMarked(value));
      if (!isLoose) {
        yield { kind: "skipped" };
        return;
      }
      if (loose === null) yield openedThread("");
      loose ??= place;
      const said = isRecord(inner)
        ? message(inner, memberSlices(text).get("message")!, { place, around: value })
        : message(value, text, { place, around: value });
      yield isEndedAtOnce(said.value, value) ? ENDED : { kind: "message", key: "", message: said };
    },
    *end(): Iterable<ImportPiece> {
      yield* history.end();
      if (loose === null) return;
      for (const place of whole)
        yield {
          kind: "problem",
          place,
          message: `holds a whole conversation, ${loose} a single message: put them into files of their own`,
        };
    },
  };
}

const isMarked = (value: FormatFields): boolean =>
  DIALECTS.some((dialect) => definitionOf(dialect).mark(value as never) !== null);

/** Where objects hold their messages: requests, stored chats, the states of a graph, checkpoints. */
const HOLDERS: readonly (readonly string[])[] = [
  ["messages"],
  ["contents"],
  ["history"],
  ["input"],
  ["values", "messages"],
  ["channel_values", "messages"],
  ["checkpoint", "channel_values", "messages"],
  ["state", "messages"],
];

interface HeldMessage {
  readonly values: readonly unknown[];
  readonly slices: readonly string[];
}

function heldIn(value: FormatFields, text: string): HeldMessage | null {
  // Looked for in the value first: nearly all lines of a long file are single messages, whose text needn't be taken apart.
  for (const path of HOLDERS) {
    const values = path.reduce<unknown>((inner, name) => (isRecord(inner) ? inner[name] : undefined), value);
    if (!Array.isArray(values)) continue;
    const slice = path.reduce<string | undefined>((outer, name) => outer && memberSlices(outer).get(name), text);
    if (slice !== undefined) return { values, slices: elementSlices(slice) };
  }
  return null;
}

function* conversation(value: FormatFields, list: HeldMessage & { readonly place: string }): Iterable<ImportPiece> {
  const { place } = list;
  const key = place === "" ? "conversation" : place;
  const questions = Array.isArray(value["questions"]) ? value["questions"] : [];
  yield openedThread(key, { place, request: requestOf(value), questions });
  yield* messagesIn(list, key);
  yield { kind: "end", key };
}

function* messagesIn(list: HeldMessage & { readonly place: string }, key: string): Iterable<ImportPiece> {
  const within = list.place === "" ? "" : `${list.place}, `;
  for (const [index, slice] of list.slices.entries()) {
    const item = list.values[index];
    const place = `${within}message ${index + 1}`;
    // A turn of several items is a list.
    if (!isRecord(item) && !Array.isArray(item)) {
      yield { kind: "problem", place, message: "a message must be an object" };
      continue;
    }
    const around = item as FormatFields;
    const inner = isRecord(item) ? item["message"] : undefined;
    const said = isRecord(inner)
      ? message(inner, memberSlices(slice).get("message")!, { place, around })
      : message(around, slice, { place, around });
    yield isEndedAtOnce(said.value, around) ? ENDED : { kind: "message", key, message: said };
  }
}

const ENDED: ImportPiece = { kind: "left", place: "", what: "an answer that ended before its first word" };

/** No provider takes an answer without content; nothing is lost with one that never began. */
function isEndedAtOnce(value: FormatFields, around: FormatFields): boolean {
  const reason = around["stop_reason"] ?? around["stopReason"] ?? around["finish_reason"];
  const isEmpty = value["content"] === null && value["tool_calls"] == null && value["function_call"] == null;
  return value["role"] === "assistant" && isEmpty && /^(?:abort|cancel|interrupt|error|fail)/i.test(String(reason));
}

function requestOf(value: FormatFields): ImportedConversation["request"] {
  const system =
    value["system"] ??
    value["instructions"] ??
    textOfContent(value["systemInstruction"] ?? value["system_instruction"]);
  const { tools } = value;
  const request = { ...(system != null && { system }), ...(tools != null && { tools }) };
  return Object.keys(request).length > 0 ? request : null;
}

/** Gemini's system prompt is a content. */
function textOfContent(content: unknown): unknown {
  if (!isRecord(content) || !Array.isArray(content["parts"])) return content;
  return content["parts"].map((part) => (isRecord(part) ? String(part["text"] ?? "") : "")).join("\n\n");
}

interface Standing {
  readonly place: string;
  /** The object the file wraps the message in, or the message itself. */
  readonly around: FormatFields;
}

/** As files of different programs name it. */
const TIME_NAMES = ["at", "timestamp", "created_at", "createdAt", "create_time", "created"];

function statedTime(fields: FormatFields): string | null {
  for (const name of TIME_NAMES) {
    const at = timeOf(fields[name]);
    if (at !== null) return at;
  }
  return null;
}

function message(value: FormatFields, text: string, { place, around }: Standing): ImportedMessage {
  const model = around["model"] ?? value["model"];
  return {
    place,
    body: withoutBreaks(text),
    value,
    at: statedTime(around) ?? statedTime(value),
    model: typeof model === "string" ? model : null,
    usage: readUsage(around["usage"] ?? value["usage"]),
  };
}

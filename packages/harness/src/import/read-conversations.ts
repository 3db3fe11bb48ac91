/**
 * Reads a file's bytes into conversations without writing anything: one JSON array, an object that holds messages, JSON
 * lines, or what an app exports (`formats`). Every bad line is reported, with its place; lines that are JSON but hold no
 * message are counted as skipped.
 */

import { DIALECTS, definitionOf } from "@palimpsest/core/internal/message";
import { errorText, isRecord } from "@palimpsest/core/internal/text";
import { readUsage } from "../models/read-usage.ts";
import type { ImportedConversation, ImportedMessage, Problem } from "./conversation.ts";
import { formatOf, notRecognized } from "./formats/index.ts";
import { elementSlices, memberSlices, withoutBreaks } from "./json-slices.ts";
import { decode, layoutOf, type TextLine, textLines, withoutByteOrderMark } from "./text-lines.ts";
import { timeOf } from "./time.ts";

export interface Reading {
  readonly conversations: readonly ImportedConversation[];
  readonly skipped: number;
  readonly problems: readonly Problem[];
  /** What a format left out of the conversations it read. */
  readonly notes: readonly Problem[];
  /** Whose file it is, where that is more than a list of messages: `ChatGPT export`. */
  readonly format: string | null;
  /** What the file has and what could be read, for somebody in whose file nothing was found. */
  readonly seen: string;
}

export interface ReadingOptions {
  /** Called every few megabytes with the bytes read so far; awaited, so that the caller can stay responsive. */
  readonly onProgress?: (bytes: number) => Promise<void>;
}

export async function readConversations(file: Buffer, options: ReadingOptions = {}): Promise<Reading> {
  const bytes = withoutByteOrderMark(file);
  const builder: ReadingBuilder = { conversations: [], loose: [], skipped: 0, problems: [] };
  const values: TextValue[] = [];
  if (layoutOf(bytes) === "document") addDocument(builder, values, bytes);
  else {
    let told = 0;
    for (const line of textLines(bytes)) {
      const parsed = parse(line, "lines");
      if ("problem" in parsed) builder.problems.push(parsed.problem);
      else values.push({ ...parsed, place: `line ${line.number}` });
      if (line.end - told < PROGRESS_STEP) continue;
      told = line.end;
      await options.onProgress?.(told);
    }
  }
  const seen = notRecognized(values.slice(0, 1).map(({ value }) => value));
  const objects = values.flatMap(({ value, place }) => (isRecord(value) ? [{ value, place }] : []));
  const format = formatOf(objects);
  if (format !== null) {
    const { skipped, ...read } = format.read(objects);
    const others = values.length - objects.length;
    return { ...read, skipped: skipped + others, problems: builder.problems, format: format.name, seen };
  }
  // Among lines that wrap their messages, one that only looks like a message is a note about them.
  const isWrapped = objects.some(({ value }) => isRecord(value["message"]));
  for (const { value, text, place } of values) addValue(builder, value, { text, place, isWrapped });
  return { ...finished(builder), notes: [], format: null, seen };
}

const PROGRESS_STEP = 4 * 1024 * 1024;

interface TextValue {
  readonly value: unknown;
  readonly text: string;
  readonly place: string;
}

interface ReadingBuilder {
  readonly conversations: ImportedConversation[];
  /** Messages that stand by themselves: together they are one conversation. */
  readonly loose: ImportedMessage[];
  skipped: number;
  readonly problems: Problem[];
}

function addDocument(builder: ReadingBuilder, values: TextValue[], bytes: Buffer): void {
  const bad = [...textLines(bytes)].find((line) => line.badByte !== null);
  const parsed = bad ? parse(bad, "lines") : parse(decode(bytes, 1, bytes.length), "document");
  if ("problem" in parsed) builder.problems.push(parsed.problem);
  else if (!Array.isArray(parsed.value)) values.push({ ...parsed, place: "" });
  else {
    const elements: readonly unknown[] = parsed.value;
    for (const [index, text] of elementSlices(parsed.text).entries())
      values.push({ value: elements[index], text, place: `message ${index + 1}` });
  }
}

interface ValueOptions {
  readonly text: string;
  readonly place: string;
  readonly isWrapped: boolean;
}

function addValue(builder: ReadingBuilder, value: unknown, { text, place, isWrapped }: ValueOptions): void {
  if (!isRecord(value)) {
    builder.skipped += 1;
    return;
  }
  const list = heldIn(value, text);
  if (list !== null) builder.conversations.push(conversation(builder, value, { ...list, place }));
  else if (isRecord(value["message"]))
    builder.loose.push(message(value["message"], memberSlices(text).get("message")!, place, value));
  else if ("role" in value || (!isWrapped && isMarked(value))) builder.loose.push(message(value, text, place, value));
  else builder.skipped += 1;
}

const isMarked = (value: Record<string, unknown>): boolean =>
  DIALECTS.some((dialect) => definitionOf(dialect).mark(value) !== null);

/** Where an object keeps a list of messages: requests, stored chats, the states of a graph, checkpoints. */
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

interface Held {
  readonly values: readonly unknown[];
  readonly slices: readonly string[];
}

function heldIn(value: Record<string, unknown>, text: string): Held | null {
  for (const path of HOLDERS) {
    let [inner, slice]: readonly [unknown, string | undefined] = [value, text];
    for (const name of path) {
      slice = isRecord(inner) && slice !== undefined ? memberSlices(slice).get(name) : undefined;
      inner = isRecord(inner) ? inner[name] : undefined;
    }
    if (Array.isArray(inner) && slice !== undefined) return { values: inner, slices: elementSlices(slice) };
  }
  return null;
}

function conversation(
  builder: ReadingBuilder,
  value: Record<string, unknown>,
  list: Held & { readonly place: string },
): ImportedConversation {
  const { place } = list;
  const within = place === "" ? "" : `${place}, `;
  const messages = list.slices.flatMap((slice, index) => {
    const item = list.values[index];
    const at = `${within}message ${index + 1}`;
    if (isRecord(item) && isRecord(item["message"]))
      return [message(item["message"], memberSlices(slice).get("message")!, at, item)];
    // A turn of several items is a list.
    if (isRecord(item) || Array.isArray(item))
      return [message(item as Record<string, unknown>, slice, at, item as never)];
    builder.problems.push({ place: at, message: "a message must be an object" });
    return [];
  });
  const system =
    value["system"] ??
    value["instructions"] ??
    textOfContent(value["systemInstruction"] ?? value["system_instruction"]);
  const { tools } = value;
  const request = { ...(system != null && { system }), ...(tools != null && { tools }) };
  return {
    place,
    messages,
    request: Object.keys(request).length > 0 ? request : null,
    questions: Array.isArray(value["questions"]) ? value["questions"] : [],
  };
}

/** Gemini's system prompt is a content. */
function textOfContent(content: unknown): unknown {
  if (!isRecord(content) || !Array.isArray(content["parts"])) return content;
  return content["parts"].map((part) => (isRecord(part) ? String(part["text"] ?? "") : "")).join("\n\n");
}

/** `around` is the object the file wraps the message in, or the message itself. */
function message(
  value: Record<string, unknown>,
  text: string,
  place: string,
  around: Readonly<Record<string, unknown>>,
): ImportedMessage {
  const model = around["model"] ?? value["model"];
  return {
    place,
    body: withoutBreaks(text),
    value,
    at: timeOf(around["at"] ?? around["timestamp"]),
    model: typeof model === "string" ? model : null,
    usage: readUsage(around["usage"] ?? value["usage"]),
  };
}

function finished(builder: ReadingBuilder): Pick<Reading, "conversations" | "skipped" | "problems"> {
  const { conversations, loose, skipped, problems } = builder;
  if (loose.length === 0) return { conversations, skipped, problems };
  const mixed = conversations.map(({ place }) => ({
    place,
    message: `holds a whole conversation, ${loose[0]!.place} a single message: put them into files of their own`,
  }));
  return {
    conversations: [{ place: "", messages: loose, request: null, questions: [] }],
    skipped,
    problems: [...problems, ...mixed],
  };
}

type Parsed = { readonly value: unknown; readonly text: string } | { readonly problem: Problem };

function parse(line: TextLine, layout: "document" | "lines"): Parsed {
  const place = layout === "lines" ? `line ${line.number}` : "";
  if (line.badByte !== null)
    return { problem: { place, message: `byte ${line.badByte} is not UTF-8: save the file as UTF-8` } };
  try {
    return { value: JSON.parse(line.text), text: line.text };
  } catch (error) {
    return { problem: { place, message: jsonProblem(error) } };
  }
}

function jsonProblem(error: unknown): string {
  const detail = errorText(error).replaceAll(/\s+/g, " ").slice(0, 160);
  const truncated = /end of JSON input|Unterminated/.test(detail)
    ? "; it ends in the middle: is the file truncated?"
    : "";
  return `not valid JSON: ${detail}${truncated}`;
}

/**
 * Reads a file's bytes into conversations without writing anything: one JSON array, a `{messages}` object, or JSON lines.
 * Every bad line is reported, with its place; lines that are JSON but hold no message are counted as skipped.
 */
import { isRecord } from "@palimpsest/core/internal/text";
import type { Conversation, ImportedMessage, Problem } from "./conversation.ts";
import { elementSlices, memberSlices, oneLine } from "./json-slices.ts";
import { decode, layoutOf, type TextLine, textLines, withoutByteOrderMark } from "./text-lines.ts";
import { readUsage } from "./usage.ts";

export interface Reading {
  readonly conversations: readonly Conversation[];
  readonly skipped: number;
  readonly problems: readonly Problem[];
}

export interface ReadingOptions {
  /** Called every few megabytes with the bytes read so far; awaited, so that the caller can stay responsive. */
  readonly onProgress?: (bytes: number) => Promise<void>;
}

export async function readConversations(file: Buffer, options: ReadingOptions = {}): Promise<Reading> {
  const bytes = withoutByteOrderMark(file);
  const draft: Draft = { conversations: [], loose: [], skipped: 0, problems: [] };
  if (layoutOf(bytes) === "document") addDocument(draft, bytes);
  else {
    let told = 0;
    for (const line of textLines(bytes)) {
      addLine(draft, line);
      if (line.end - told < PROGRESS_STEP) continue;
      told = line.end;
      await options.onProgress?.(told);
    }
  }
  return finished(draft);
}

const PROGRESS_STEP = 4 * 1024 * 1024;

interface Draft {
  readonly conversations: Conversation[];
  /** Messages that stand by themselves: together they are one conversation. */
  readonly loose: ImportedMessage[];
  skipped: number;
  readonly problems: Problem[];
}

function addDocument(draft: Draft, bytes: Buffer): void {
  const bad = [...textLines(bytes)].find((line) => line.badByte !== null);
  const parsed = bad ? parse(bad, "lines") : parse(decode(bytes, 1, bytes.length), "document");
  if ("problem" in parsed) draft.problems.push(parsed.problem);
  else if (!Array.isArray(parsed.value)) addValue(draft, parsed.value, parsed.text, "");
  else {
    const values: readonly unknown[] = parsed.value;
    for (const [index, text] of elementSlices(parsed.text).entries())
      addValue(draft, values[index], text, `message ${index + 1}`);
  }
}

function addLine(draft: Draft, line: TextLine): void {
  const parsed = parse(line, "lines");
  if ("problem" in parsed) draft.problems.push(parsed.problem);
  else addValue(draft, parsed.value, parsed.text, `line ${line.number}`);
}

function addValue(draft: Draft, value: unknown, text: string, place: string): void {
  if (!isRecord(value)) draft.skipped += 1;
  else if (Array.isArray(value["messages"])) draft.conversations.push(conversation(draft, value, text, place));
  else if (isRecord(value["message"]))
    draft.loose.push(message(value["message"], memberSlices(text).get("message")!, place, value));
  else if ("role" in value) draft.loose.push(message(value, text, place, value));
  else draft.skipped += 1;
}

function conversation(draft: Draft, value: Record<string, unknown>, text: string, place: string): Conversation {
  const values = value["messages"] as readonly unknown[];
  const within = place === "" ? "" : `${place}, `;
  const messages = elementSlices(memberSlices(text).get("messages")!).flatMap((slice, index) => {
    const item = values[index];
    const at = `${within}message ${index + 1}`;
    if (isRecord(item) && isRecord(item["message"]))
      return [message(item["message"], memberSlices(slice).get("message")!, at, item)];
    if (isRecord(item)) return [message(item, slice, at, item)];
    draft.problems.push({ place: at, message: "a message must be an object" });
    return [];
  });
  const { system, tools } = value;
  const request = { ...(system != null && { system }), ...(tools != null && { tools }) };
  return {
    place,
    messages,
    request: Object.keys(request).length > 0 ? request : null,
    questions: Array.isArray(value["questions"]) ? value["questions"] : [],
  };
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
    body: oneLine(text),
    value,
    at: time(around["at"] ?? around["timestamp"]),
    model: typeof model === "string" ? model : null,
    usage: readUsage(around["usage"] ?? value["usage"]),
  };
}

function finished(draft: Draft): Reading {
  const { conversations, loose, skipped, problems } = draft;
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
  const said = (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, " ").slice(0, 160);
  const truncated = /end of JSON input|Unterminated/.test(said)
    ? "; it ends in the middle: is the file truncated?"
    : "";
  return `not valid JSON: ${said}${truncated}`;
}

/** ISO 8601, or seconds or milliseconds since 1970. */
function time(value: unknown): string | null {
  if (typeof value !== "string" && typeof value !== "number") return null;
  const date = new Date(typeof value === "number" && value < 1e11 ? value * 1000 : value);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

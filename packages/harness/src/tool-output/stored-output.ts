/**
 * Puts a long output into the thread's folder of tool outputs and says so in its place: what it is, its short form, and
 * where all of it can be read. Names are hashes of the content [F48]: never too long, never colliding, the same output
 * is stored once.
 */
import { createHash } from "node:crypto";
import { ToolFailure } from "../workspace/tool-failure.ts";
import { type Place, virtualPath } from "../workspace/virtual-path.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { writeWhole } from "../workspace/write-whole.ts";
import type { OutputKind } from "./output-kind.ts";
import { preview } from "./preview.ts";

export interface OutputToStore {
  readonly tool: string;
  readonly text: string;
  /** The message that holds the original; it can be read back from there if the file can't be written. */
  readonly seq: number;
}

const EXTENSIONS: Readonly<Record<OutputKind, string>> = {
  json: "json",
  "json-lines": "jsonl",
  csv: "csv",
  code: "txt",
  log: "log",
  text: "txt",
};

/** Returns the text that stands for the output. */
export async function storeOutput(workspace: Workspace, output: OutputToStore, maxChars: number): Promise<string> {
  const { tool, seq } = output;
  const text = inLines(output.text);
  const short = preview(text, { maxChars });
  const size = `${text.length} characters in ${short.lines} ${short.lines === 1 ? "line" : "lines"}`;
  const place = placeOf(`${digestOf(text)}.${EXTENSIONS[short.kind]}`);
  const pointer = await writeWhole(workspace, place, text).then(
    () => pointerTo(virtualPath(place), short.lines),
    (error: unknown) => {
      const reason = error instanceof ToolFailure ? error.message : "it could not be stored.";
      return `It could not be written to a file: ${reason} All of it can be read with recall_read({"from": ${seq}}).`;
    },
  );
  return `[The result of ${tool} is too long to show whole: ${size}. ${pointer} In short:]\n\n${short.text}`;
}

/** The names of stored outputs that a text mentions, such as a call's arguments. */
export function storedNames(text: string): string[] {
  return [...new Set(text.match(/(?<=tool-outputs\/)[0-9a-f]{32}\.[a-z]+/g))];
}

/** Writes a stored output again if this is the one with that name. */
export async function restoreOutput(workspace: Workspace, name: string, original: string): Promise<boolean> {
  const text = inLines(original);
  if (!name.startsWith(`${digestOf(text)}.`)) return false;
  await writeWhole(workspace, placeOf(name), text);
  return true;
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

function placeOf(name: string): Place {
  return { root: "tool-outputs", segments: [name] };
}

/** JSON on one long line can't be read by lines or searched well: it is stored indented where that loses nothing. */
function inLines(text: string): string {
  if (text.includes("\n") || !/^[[{]/.test(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? JSON.stringify(value, null, 1) : text;
  } catch {
    return text;
  }
}

function pointerTo(path: string, lines: number): string {
  const range = lines === 1 ? `"column": 1` : `"offset": 1, "limit": 200`;
  return `All of it is in ${path}: read parts with read_file({"path": "${path}", ${range}}), or search it with grep.`;
}

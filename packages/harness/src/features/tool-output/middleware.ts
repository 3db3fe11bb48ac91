/**
 * Keeps long tool results out of the prompt. The log keeps the result whole; the prompt shows its short form and a
 * pointer to a file that `read_file` can follow. Only results the model hasn't seen yet are touched, so what the
 * provider has cached stays as it is. It reads the log, so a run that was killed in between is made good by the next,
 * and a file that was deleted is made again when a call names it.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type AiSdkMessage, aiSdkShape, type ResultPart } from "@palimpsest/core/internal/message";
import { type CountText, charsPerToken } from "@palimpsest/core/internal/tokens";
import type { Middleware, Run } from "../../agent/run.ts";
import { readQuotes } from "../../compaction/summary.ts";
import { readBody } from "../../thread/thread-view.ts";
import { type Place, virtualPath } from "../workspace/inside.ts";
import { writeWhole } from "../workspace/read-write.ts";
import { ToolFailure } from "../workspace/tool-failure.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type OutputKind, preview } from "./preview.ts";

export interface ToolOutputOptions {
  readonly workspace: (run: Run) => Workspace;
  /** A longer result goes to a file. */
  readonly maxTokens?: number;
  readonly perTool?: Readonly<Record<string, number>>;
  /** Tools whose results stay as they are; null: those that say that they bound their own. */
  readonly exempt?: readonly string[] | null;
  readonly count?: CountText;
}

export function toolOutput(options: ToolOutputOptions): Middleware {
  return {
    name: "tool-output",
    async beforeModel(run) {
      const long = unseenResults(run).filter((result) => !isExempt(result, run, options) && isLong(result, options));
      if (long.length === 0) return;
      const count = options.count ?? charsPerToken(4);
      const entries = await Promise.all(long.map((result) => entryFor(run, result, options)));
      await run.commit([
        {
          kind: "prune",
          entries,
          tokensBefore: sum(long.map(({ result }) => count(result.text))),
          tokensAfter: sum(entries.map(({ replacement }) => count(replacement))),
        },
      ]);
    },
    async wrapTool(call, next, run) {
      const workspace = options.workspace(run);
      const { directory } = workspace.roots["tool-outputs"];
      const named = storedNames(JSON.stringify(call.input) ?? "");
      // The tool that finds no file says so better than we could.
      for (const name of named)
        if (!existsSync(join(directory, name))) await restore(name, run, workspace).catch(() => {});
      return next(call);
    },
  };
}

/** The prune that put the file in the result's place says which result it was. */
async function restore(name: string, { deps, threadId }: Run, workspace: Workspace): Promise<void> {
  for await (const { record } of deps.store.records(threadId, { kinds: ["prune"], order: "descending" })) {
    const entry = record.kind === "prune" && record.entries.find(({ replacement }) => replacement.includes(name));
    if (!entry) continue;
    const [message] = await readQuotes(deps.store, threadId)([entry.target]);
    const part = message && aiSdkShape.parts(readBody(message, aiSdkShape))[entry.part];
    if (part?.kind === "result" && (await restoreOutput(workspace, name, part.text))) return;
  }
}

interface Unseen {
  readonly target: number;
  readonly part: number;
  readonly tool: string;
  readonly result: ResultPart;
}

/** The results that stand after the model's last answer. */
function unseenResults({ thread }: Run): Unseen[] {
  const view = thread.view();
  const pruned = new Set(
    thread.live().prunes.flatMap(({ entries }) => entries.map(({ target, part }) => `${target}.${part}`)),
  );
  const last = view.findLastIndex(({ message }) => aiSdkShape.role(message) === "assistant");
  return view
    .slice(last + 1)
    .flatMap(({ seq, message }) => (seq === null ? [] : resultsOf(seq, message)))
    .filter(({ target, part }) => !pruned.has(`${target}.${part}`));
}

function resultsOf(target: number, message: AiSdkMessage): Unseen[] {
  return aiSdkShape
    .parts(message)
    .flatMap((result, part) =>
      result.kind === "result" ? [{ target, part, tool: result.name ?? "a tool", result }] : [],
    );
}

function isExempt({ tool, result: { images } }: Unseen, { deps }: Run, { exempt = null }: ToolOutputOptions): boolean {
  // A result that carries an image is replaced whole, and the image would go with it.
  if (images.length > 0) return true;
  return exempt === null ? deps.tools?.(tool)?.output === "bounded" : exempt.includes(tool);
}

function isLong({ tool, result: { text } }: Unseen, options: ToolOutputOptions): boolean {
  const { maxTokens = 4000, perTool = {}, count = charsPerToken(4) } = options;
  const limit = Object.hasOwn(perTool, tool) ? perTool[tool]! : maxTokens;
  // No text has more tokens than bytes, and none of this length has so few; only what lies between is counted.
  if (text.length * 4 <= limit) return false;
  return text.length > limit * 16 || count(text) > limit;
}

async function entryFor(run: Run, { target, part, tool, result }: Unseen, options: ToolOutputOptions) {
  const { maxTokens = 4000, perTool = {} } = options;
  const limit = Object.hasOwn(perTool, tool) ? perTool[tool]! : maxTokens;
  const output = { tool, text: result.text, seq: target };
  const maxChars = Math.max(600, Math.min(6000, limit * 2));
  const replacement = await storeOutput(options.workspace(run), output, maxChars);
  return { target, part, replacement, reason: "clamped" as const };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/*
 * Puts a long output into the thread's folder of tool outputs and says so in its place: what it is, its short form, and
 * where all of it can be read. Names are hashes of the content [F48]: never too long, never colliding, the same output
 * is stored once.
 */

interface OutputToStore {
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

/** Returns the text that replaces the output. */
async function storeOutput(workspace: Workspace, output: OutputToStore, maxChars: number): Promise<string> {
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
async function restoreOutput(workspace: Workspace, name: string, original: string): Promise<boolean> {
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

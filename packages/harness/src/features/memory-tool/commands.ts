/**
 * The six commands of Anthropic's `memory_20250818` tool over a file port, with the texts that its models were taught on.
 * A refusal is thrown: the runner of the tool shows its message as `Error: ...`.
 */

import { normalized } from "@palimpsest/core/internal/text";
import { ToolFailure } from "../workspace/tool-failure.ts";

/** As the model sends it; what its schema says is checked here, since models don't always keep to it. */
export type MemoryCommand =
  | { readonly command: "view"; readonly path: string; readonly view_range?: readonly number[] | null }
  | { readonly command: "create"; readonly path: string; readonly file_text: string }
  | { readonly command: "str_replace"; readonly path: string; readonly old_str: string; readonly new_str: string }
  | {
      readonly command: "insert";
      readonly path: string;
      readonly insert_line: number;
      readonly insert_text: string;
    }
  | { readonly command: "delete"; readonly path: string }
  | { readonly command: "rename"; readonly old_path: string; readonly new_path: string };

export function runMemoryCommand(files: MemoryFiles, command: MemoryCommand): Promise<string> {
  switch (command.command) {
    case "view":
      return view(files, command);
    case "create":
      return files.exclusively(() => create(files, command));
    case "str_replace":
      return files.exclusively(() => replace(files, command));
    case "insert":
      return files.exclusively(() => insert(files, command));
    case "delete":
      return files.exclusively(() => remove(files, command));
    case "rename":
      return files.exclusively(() => rename(files, command));
    default:
      return Promise.reject(
        new ToolFailure(`Unknown command: ${String((command as { readonly command?: unknown }).command).slice(0, 40)}`),
      );
  }
}

type CommandInput<C extends MemoryCommand["command"]> = Extract<MemoryCommand, { readonly command: C }>;

async function view(files: MemoryFiles, { path, view_range: range }: CommandInput<"view">): Promise<string> {
  const segments = memorySegments(path);
  const entry = await files.look(segments);
  if (entry?.kind === "folder" || segments.length === 0) return listing(files, path, segments);
  if (entry === null) throw missing(path);
  const lines = (await files.read(segments)).split("\n");
  if (lines.length > MOST_LINES) throw new ToolFailure(`File ${path} exceeds maximum line limit of 999,999 lines.`);
  const [from, to] = rangeOf(range, lines.length);
  return `Here's the content of ${path} with line numbers:\n${numbered(lines.slice(from - 1, to), from)}`;
}

const MOST_LINES = 999_999;

function rangeOf(range: unknown, count: number): readonly [number, number] {
  if (range == null) return [1, count];
  const [from, to] = Array.isArray(range) && range.length === 2 ? range : [];
  if (!Number.isInteger(from) || !Number.isInteger(to))
    throw new ToolFailure("Invalid `view_range` parameter: it should be a list of two line numbers");
  return [Math.max(1, from), to === -1 ? count : to];
}

/** Two levels, and not more entries than a prompt can take. */
const MOST_LISTED = 1000;

async function listing(files: MemoryFiles, path: string, segments: Segments): Promise<string> {
  const shown = path.replace(/(?<!\/)\/+$/, "");
  const own = await files.look(segments);
  const lines = [`${sizeText(own?.bytes ?? 0)}\t${path}`];
  const add = (relative: string, { kind, bytes }: NamedEntry): void =>
    void lines.push(`${sizeText(bytes)}\t${shown}/${relative}${kind === "folder" ? "/" : ""}`);
  for (const entry of await visible(files, own === null ? null : segments)) {
    add(entry.name, entry);
    if (entry.kind !== "folder") continue;
    for (const inner of await visible(files, [...segments, entry.name])) add(`${entry.name}/${inner.name}`, inner);
  }
  const more = lines.length - MOST_LISTED;
  const rest = more > 0 ? `\n... and ${more} more: view one of the directories.` : "";
  const header = `Here're the files and directories up to 2 levels deep in ${path}, excluding hidden items and node_modules:`;
  return `${header}\n${lines.slice(0, MOST_LISTED).join("\n")}${rest}`;
}

async function visible(files: MemoryFiles, segments: Segments | null): Promise<readonly NamedEntry[]> {
  if (segments === null) return [];
  return (await files.list(segments)).filter(({ name }) => !name.startsWith(".") && name !== "node_modules");
}

async function create(files: MemoryFiles, { path, file_text: text }: CommandInput<"create">): Promise<string> {
  const segments = fileSegments(path);
  assertText(text, "file_text");
  if ((await files.look(segments)) !== null) throw new ToolFailure(`File ${path} already exists`);
  await files.write(segments, text);
  return `File created successfully at: ${path}`;
}

async function replace(files: MemoryFiles, given: CommandInput<"str_replace">): Promise<string> {
  const { path, old_str: old, new_str: by = "" } = given;
  const segments = fileSegments(path);
  assertText(old, "old_str");
  assertText(by, "new_str");
  const text = await fileText(files, path, segments);
  const places = old === "" ? [] : occurrences(text, old);
  if (places.length === 0)
    throw new ToolFailure(`No replacement was performed, old_str \`${old}\` did not appear verbatim in ${path}.`);
  const lineOf = (at: number): number => text.slice(0, at).split("\n").length;
  if (places.length > 1) {
    const lines = [...new Set(places.map(lineOf))].join(", ");
    throw new ToolFailure(
      `No replacement was performed. Multiple occurrences of old_str \`${old}\` in lines: ${lines}. Please ensure it is unique`,
    );
  }
  const [at] = places as [number];
  const changed = text.slice(0, at) + by + text.slice(at + old.length);
  await files.write(segments, changed);
  const line = lineOf(at);
  const from = Math.max(1, line - 2);
  const snippet = numbered(changed.split("\n").slice(from - 1, line + by.split("\n").length + 1), from);
  return `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${snippet}`;
}

async function insert(files: MemoryFiles, given: CommandInput<"insert">): Promise<string> {
  const { path, insert_line: line, insert_text: text } = given;
  const segments = fileSegments(path);
  assertText(text, "insert_text");
  const lines = (await fileText(files, path, segments)).split("\n");
  if (!Number.isInteger(line) || line < 0 || line > lines.length) {
    const range = `[0, ${lines.length}]`;
    throw new ToolFailure(
      `Invalid \`insert_line\` parameter: ${line}. It should be within the range of lines of the file: ${range}`,
    );
  }
  await files.write(segments, lines.toSpliced(line, 0, text.endsWith("\n") ? text.slice(0, -1) : text).join("\n"));
  return `The file ${path} has been edited.`;
}

async function remove(files: MemoryFiles, { path }: CommandInput<"delete">): Promise<string> {
  const segments = memorySegments(path);
  if (segments.length === 0) throw new ToolFailure("Cannot delete the /memories directory itself");
  if ((await files.look(segments)) === null) throw new ToolFailure(`The path ${path} does not exist`);
  await files.remove(segments);
  return `Successfully deleted ${path}`;
}

async function rename(files: MemoryFiles, { old_path: path, new_path: to }: CommandInput<"rename">): Promise<string> {
  const [from, target] = [memorySegments(path, "old_path"), memorySegments(to, "new_path")];
  if (from.length === 0) throw new ToolFailure("Cannot rename the /memories directory itself");
  if (target.length === 0 || (await files.look(target)) !== null)
    throw new ToolFailure(`The destination ${to} already exists`);
  if ((await files.look(from)) === null) throw new ToolFailure(`The path ${path} does not exist`);
  if (from.every((name, index) => target[index] === name))
    throw new ToolFailure(`The destination ${to} is inside of ${path}`);
  await files.rename(from, target);
  return `Successfully renamed ${path} to ${to}`;
}

function fileSegments(path: string): Segments {
  const segments = memorySegments(path);
  if (segments.length === 0) throw new ToolFailure(`The path ${path} is not a file.`);
  return segments;
}

async function fileText(files: MemoryFiles, path: string, segments: Segments): Promise<string> {
  const entry = await files.look(segments);
  if (entry === null) throw missing(path);
  if (entry.kind !== "file") throw new ToolFailure(`The path ${path} is not a file.`);
  return files.read(segments);
}

function missing(path: string): ToolFailure {
  return new ToolFailure(`The path ${path} does not exist. Please provide a valid path.`);
}

function assertText(value: unknown, parameter: string): asserts value is string {
  if (typeof value !== "string") throw new ToolFailure(`Missing required parameter: ${parameter}`);
}

function occurrences(text: string, old: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(old); at !== -1; at = text.indexOf(old, at + old.length)) places.push(at);
  return places;
}

function numbered(lines: readonly string[], from: number): string {
  return lines.map((line, index) => `${String(from + index).padStart(6, " ")}\t${line}`).join("\n");
}

function sizeText(bytes: number): string {
  const unit = bytes === 0 ? 0 : Math.min(3, Math.floor(Math.log(bytes) / Math.log(1024)));
  const size = bytes / 1024 ** unit;
  return `${size % 1 === 0 ? size : size.toFixed(1)}${"BKMG"[unit]}`;
}

/*
 * Paths under `/memories`: which file a model means, and what is refused because it means another place, or could mean
 * one to somebody else who reads it (`%2e%2e`, backslashes, full-width dots). Pure text work.
 */

export const MEMORY_ROOT = "/memories";

const MOST_BYTES = 1024;
const MOST_NAME_BYTES = 200;
const MOST_SEGMENTS = 16;

/** Throws what the tool says to a path that it doesn't take. */
function memorySegments(path: unknown, parameter = "path"): Segments {
  if (typeof path !== "string" || path === "") throw new ToolFailure(`Missing required parameter: ${parameter}`);
  const shown = path.length > 120 ? `${path.slice(0, 120)}...` : path;
  if (path !== MEMORY_ROOT && !path.startsWith(`${MEMORY_ROOT}/`))
    throw new ToolFailure(`Path must start with /memories, got: ${shown}`);
  const segments: string[] = [];
  for (const segment of path.slice(MEMORY_ROOT.length).split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment === "..") {
      if (segments.pop() === undefined) throw new ToolFailure(`Path ${shown} would escape /memories directory`);
    } else segments.push(segment);
  }
  if (Buffer.byteLength(path) > MOST_BYTES || segments.length > MOST_SEGMENTS)
    throw new ToolFailure(`Path ${shown} is too long: at most ${MOST_BYTES} bytes and ${MOST_SEGMENTS} folders`);
  for (const segment of segments) {
    if (Buffer.byteLength(segment) > MOST_NAME_BYTES)
      throw new ToolFailure(`Path ${shown} has a name of more than ${MOST_NAME_BYTES} bytes`);
    if (isDisguised(segment)) throw new ToolFailure(`Path ${shown} would escape /memories directory`);
  }
  return segments;
}

/** Control characters, backslashes, and what becomes a dot, a separator or a drive when it is decoded or normalized. */
function isDisguised(segment: string): boolean {
  if ([...segment].some((character) => character < " " || character === "\x7f" || character === "\\")) return true;
  if (/%(?:2e|2f|5c|00|25)/i.test(segment)) return true;
  const folded = normalized(segment, "NFKC");
  return folded !== segment && (/[/\\]/.test(folded) || /^\.+$/.test(folded));
}

/**
 * The small port that the memory tool's commands stand on: files and folders below one root, named by their segments.
 * An implementation keeps every name inside of the root; the commands decide what is asked of it and what is said.
 */

/** Below `/memories`; none: the root itself. */
export type Segments = readonly string[];

export interface MemoryFiles {
  /** Null: nothing is there, or nothing that is a plain file or folder. */
  look(path: Segments): Promise<MemoryEntry | null>;
  /** The plain files and folders of a folder, by name. */
  list(path: Segments): Promise<readonly NamedEntry[]>;
  read(path: Segments): Promise<string>;
  /** Whole or not at all; makes the folders that are missing. */
  write(path: Segments, text: string): Promise<void>;
  /** A folder with all that is in it. */
  remove(path: Segments): Promise<void>;
  /** Nothing stands at `to`; makes the folders that are missing. */
  rename(path: Segments, to: Segments): Promise<void>;
  /** One change at a time, so that none is lost between its reading and its writing. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
}

export interface MemoryEntry {
  readonly kind: "file" | "folder";
  readonly bytes: number;
}

export interface NamedEntry extends MemoryEntry {
  readonly name: string;
}

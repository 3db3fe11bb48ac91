/**
 * Looks for lines in the files of the workspace, a chunk at a time, so that neither a large file nor a long line fills
 * the memory. Says why it ended. A file that can't be read on the way is passed over, unless it was the one asked for.
 */

import type { Dirent } from "node:fs";
import { type FileHandle, readdir } from "node:fs/promises";
import { errorText } from "@palimpsest/core/internal/text";
import type { RE2JS } from "re2js";
import { type Place, resolveVirtual, virtualPath, withFile, withFolder } from "./inside.ts";
import { isBinary } from "./read-write.ts";
import { failureFor, ToolFailure } from "./tool-failure.ts";
import type { Workspace } from "./workspace.ts";

interface FileSearch {
  readonly matches: Matcher;
  /** Decides by the path relative to the searched folder. */
  readonly wanted: Matcher;
  readonly maxResults: number;
  readonly signal: AbortSignal;
}

interface FileHit {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface FileSearchOutcome {
  readonly hits: readonly FileHit[];
  readonly files: number;
  readonly end: "complete" | "max-results" | "stopped";
}

const WALK = { maxEntries: 100_000, maxDepth: 64 };
const CHUNK = 1 << 17;
/** A longer line is matched and shown by pieces of this size. */
const MAX_LINE = 1 << 16;
const SHOWN = 300;

export async function searchFiles(workspace: Workspace, path: string, search: FileSearch): Promise<FileSearchOutcome> {
  const hits: FileHit[] = [];
  let files = 0;
  const read = async (place: Place): Promise<void> => {
    files++;
    await withFile(workspace, place, (file) => searchFile(file, virtualPath(place), search, hits));
  };
  const ended = (): FileSearchOutcome["end"] | null =>
    hits.length > search.maxResults ? "max-results" : search.signal.aborted ? "stopped" : null;
  const outcome = (end: FileSearchOutcome["end"]): FileSearchOutcome => ({
    hits: hits.slice(0, search.maxResults),
    files,
    end,
  });

  for (const start of searchStarts(path)) {
    if (!(await isFolder(workspace, start))) {
      await read(start);
      continue;
    }
    const entries = walk(workspace, start, { ...WALK, signal: search.signal });
    let step = await entries.next();
    for (; !step.done && ended() === null; step = await entries.next()) {
      const { kind, relative, place } = step.value;
      if (kind === "file" && search.wanted(relative)) await read(place).catch(passOver);
    }
    if (step.done && step.value === "stopped") return outcome("stopped");
  }
  return outcome(ended() ?? "complete");
}

async function isFolder(workspace: Workspace, place: Place): Promise<boolean> {
  if (place.segments.length === 0) return true;
  return listFolder(workspace, place).then(
    () => true,
    () => false,
  );
}

function passOver(error: unknown): void {
  if (!(error instanceof ToolFailure)) throw error;
}

async function searchFile(file: FileHandle, path: string, search: FileSearch, hits: FileHit[]): Promise<void> {
  const buffer = Buffer.allocUnsafe(CHUNK);
  const decoder = new TextDecoder("utf-8");
  let line = 1;
  let rest = "";
  const look = (text: string): void => {
    if (hits.length <= search.maxResults && search.matches(text))
      hits.push({ path, line, text: aroundMatch(text, search.matches) });
  };
  for (let position = 0; hits.length <= search.maxResults && !search.signal.aborted; ) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK, position);
    if (position === 0 && isBinary(buffer.subarray(0, bytesRead))) return;
    position += bytesRead;
    const text = rest + decoder.decode(buffer.subarray(0, bytesRead), { stream: bytesRead > 0 });
    const lines = text.split("\n");
    rest = lines.pop()!;
    for (const one of lines) {
      look(one.endsWith("\r") ? one.slice(0, -1) : one);
      line++;
    }
    if (rest.length > MAX_LINE) {
      look(rest);
      rest = "";
    }
    if (bytesRead === 0) {
      if (rest !== "") look(rest);
      return;
    }
  }
}

/** A long line is shown where it matches. */
function aroundMatch(text: string, matches: Matcher): string {
  if (text.length <= SHOWN) return text;
  for (let start = 0; start < text.length; start += SHOWN / 2) {
    const window = text.slice(start, start + SHOWN);
    if (matches(window)) return `${start > 0 ? "..." : ""}${window}... [at character ${start + 1} of a long line]`;
  }
  return `${text.slice(0, SHOWN)}... [a long line]`;
}

/*
 * Walks folders of the workspace, depth first and in name order, without following links. It ends at a number of entries
 * or when it is told to, and says so; what vanishes on the way is passed over.
 */

type EntryKind = "file" | "folder" | "link" | "other";

interface Walked {
  readonly place: Place;
  readonly kind: EntryKind;
  /** From the folder the walk started in. */
  readonly relative: string;
}

interface WalkLimits {
  readonly maxEntries: number;
  readonly maxDepth: number;
  readonly signal: AbortSignal;
}

/** The folders a search starts in: the one that is named, or those with the user's and the agent's own files. */
export function searchStarts(path: string): readonly Place[] {
  const resolved = resolveVirtual(path);
  if (resolved.kind === "refused") throw new ToolFailure(`${resolved.problem}.`);
  if (resolved.kind === "place") return [resolved.place];
  return (["workspace", "uploads", "outputs"] as const).map((root) => ({ root, segments: [] }));
}

/** Yields entries; returns why it ended. */
export async function* walk(
  workspace: Workspace,
  start: Place,
  limits: WalkLimits,
): AsyncGenerator<Walked, "complete" | "stopped"> {
  const waiting: Walked[] = [];
  const add = async (folder: Place, relative: string): Promise<void> => {
    const entries = await listFolder(workspace, folder);
    for (const { name, kind } of entries.toReversed()) {
      const place = { root: folder.root, segments: [...folder.segments, name] };
      waiting.push({ place, kind, relative: relative === "" ? name : `${relative}/${name}` });
    }
  };
  await add(start, "");
  let seen = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (limits.signal.aborted || ++seen > limits.maxEntries) return "stopped";
    yield next;
    const depth = next.place.segments.length - start.segments.length;
    if (next.kind !== "folder") continue;
    if (depth >= limits.maxDepth) return "stopped";
    await add(next.place, next.relative).catch(() => {});
  }
  return "complete";
}

export interface Listed {
  readonly name: string;
  readonly kind: EntryKind;
}

/** The entries of one folder by name. Files that are being written don't show. */
export async function listFolder(workspace: Workspace, place: Place): Promise<readonly Listed[]> {
  try {
    const entries = await withFolder(workspace, place, (folder) => readdir(folder.path, { withFileTypes: true }));
    return entries
      .filter(({ name }) => !TEMPORARY.test(name))
      .map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    throw failureFor(virtualPath(place), error);
  }
}

const TEMPORARY = /^\.[0-9a-f-]{36}\.tmp$|^\.part-.*\.tmp$/;

function kindOf(entry: Dirent): EntryKind {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}

/*
 * File patterns (`*`, `?`, `**`, `[abc]`, `{a,b}`) and regular expressions, matched in time linear in the text whatever
 * the pattern is: both run on RE2's algorithm, which has no backtracking. Its tables are read at the first search: most
 * runs never make one.
 */

type Matcher = (text: string) => boolean;

/** Matches paths relative to the searched folder; a pattern without a slash matches the name at any depth. */
export async function globMatcher(pattern: string): Promise<Matcher> {
  const { RE2JS } = await import("re2js");
  const whole = pattern.includes("/") ? pattern.replace(/^\/+/, "") : `**/${pattern}`;
  const source = `^(?:${globSource(whole, RE2JS.quote)})$`;
  return compiled(source, `the pattern ${JSON.stringify(pattern)}`, (text) => RE2JS.compile(text, RE2JS.DOTALL));
}

export async function lineMatcher(pattern: string, letters: "exact" | "any-case"): Promise<Matcher> {
  const { RE2JS } = await import("re2js");
  const flags = letters === "any-case" ? RE2JS.CASE_INSENSITIVE : 0;
  const what = `the pattern ${JSON.stringify(pattern.slice(0, 200))}`;
  return compiled(pattern, what, (text) => RE2JS.compile(text, flags));
}

function compiled(source: string, what: string, compile: (source: string) => RE2JS): Matcher {
  if (source.length > 2000)
    throw new ToolFailure("The pattern is longer than 2000 characters: search for less at once.");
  try {
    const expression = compile(source);
    return (text) => expression.test(text);
  } catch (error) {
    const reason = errorText(error);
    throw new ToolFailure(
      `${what} can't be used: ${reason}. The syntax is RE2's: no look-around and no back-references; escape literal ( ) [ ] { } . * + ? with a backslash.`,
    );
  }
}

function globSource(pattern: string, quote: (text: string) => string): string {
  let source = "";
  let depth = 0;
  for (let index = 0; index < pattern.length; index++) {
    const rest = pattern.slice(index);
    const char = pattern[index]!;
    const set = /^\[([!^]?)([^\]/]+)\]/.exec(rest);
    if (rest.startsWith("**/")) {
      source += "(?:[^/]+/)*";
      index += 2;
    } else if (rest.startsWith("**")) {
      source += ".*";
      index += 1;
    } else if (char === "*") source += "[^/]*";
    else if (char === "?") source += "[^/]";
    else if (set !== null) {
      source += `[${set[1] === "" ? "" : "^"}${set[2]!.replace(/[\\[\]^]/g, "\\$&")}]`;
      index += set[0].length - 1;
    } else if (char === "{" && rest.includes("}")) {
      source += "(?:";
      depth++;
    } else if (char === "}" && depth > 0) {
      source += ")";
      depth--;
    } else if (char === "," && depth > 0) source += "|";
    else source += quote(char);
  }
  return source + ")".repeat(depth);
}

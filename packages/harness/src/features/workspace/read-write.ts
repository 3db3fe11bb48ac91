/**
 * Reads a text file whole, to change it. What can't be written back byte for byte as it was (binary, not UTF-8, very
 * large) is refused, so that an edit never damages the rest of a file.
 */

import { randomUUID } from "node:crypto";
import { constants as FLAGS, type Stats } from "node:fs";
import { type FileHandle, lstat, open, rename, rm } from "node:fs/promises";
import { errorCode } from "@palimpsest/core/internal/text";
import { PRIVATE_FILE } from "../../home-folders.ts";
import { assertRoom, type Folder, type Place, virtualPath, withFile, withFolder } from "./inside.ts";
import { failureFor, ToolFailure } from "./tool-failure.ts";
import type { Quota, Workspace } from "./workspace.ts";

const MAX_EDITED = 16 << 20;

export async function readWhole(workspace: Workspace, place: Place, missing: "or-fail" | "or-empty"): Promise<string> {
  const path = virtualPath(place);
  try {
    return await withFile(workspace, place, async (file, size) => {
      if (size > MAX_EDITED)
        throw new ToolFailure(`${path} has ${size} bytes, too many to edit in place: use bash (sed).`);
      return decode(await file.readFile(), path);
    });
  } catch (error) {
    if (missing === "or-empty" && error instanceof ToolFailure && errorCode(error.cause) === "ENOENT") return "";
    throw error;
  }
}

function decode(bytes: Uint8Array, path: string): string {
  if (isBinary(bytes)) throw new ToolFailure(`${path} is a binary file: it can't be edited as text.`);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new ToolFailure(`${path} is not valid UTF-8: editing it as text would damage it. Convert it first.`, {
      cause: error,
    });
  }
}

/*
 * Reads a range of lines of a text file of any size in constant memory. A range ends at a line count or at a size,
 * whichever comes first, and says where the next one starts, inside a long line too, so that every character of every
 * file can be reached by following the pointers.
 */

export interface LineRange {
  /** First line, from 1. */
  readonly offset: number;
  /** First character in that line, from 1. */
  readonly column: number;
  readonly limit: number;
  readonly maxChars: number;
}

export interface FileSlice {
  readonly kind: "text";
  readonly text: string;
  /** The last line of which something is shown; one less than `offset` when nothing is. */
  readonly last: number;
  /** Where to go on; null at the end of the file. */
  readonly next: { readonly offset: number; readonly column: number } | null;
  /** Lines in all; null where counting them would mean reading a very large file to its end. */
  readonly lines: number | null;
}

export type LinesRead = FileSlice | { readonly kind: "binary"; readonly head: Uint8Array };

const CHUNK = 1 << 18;
const SNIFFED = 8192;
const COUNTED_TO = 32 << 20;

export async function readLines(file: FileHandle, range: LineRange): Promise<LinesRead> {
  const buffer = Buffer.allocUnsafe(CHUNK);
  const decoder = new TextDecoder("utf-8");
  const reader = lineReader(range);
  for (let position = 0; ; ) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK, position);
    const bytes = buffer.subarray(0, bytesRead);
    if (position === 0 && isBinary(bytes)) return { kind: "binary", head: Uint8Array.from(bytes.subarray(0, 64)) };
    position += bytesRead;
    reader.take(decoder.decode(bytes, { stream: bytesRead > 0 }));
    if (bytesRead === 0) return { kind: "text", ...reader.result("whole") };
    if (reader.full() && position > COUNTED_TO) return { kind: "text", ...reader.result("part") };
  }
}

/** Text holds no null bytes; one near the start is how a binary file is known. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, SNIFFED).includes(0);
}

function lineReader({ offset, column, limit, maxChars }: LineRange) {
  const shortLines: string[] = [];
  let size = 0;
  let line = 1;
  let at = 1;
  let last = offset - 1;
  let next: FileSlice["next"] = null;
  let full = false;

  /** Keeps what is wanted of a piece that lies within one line, its newline included. */
  const keep = (piece: string): void => {
    if (full || line < offset || piece === "") return;
    const skipped = line === offset ? Math.max(0, column - at) : 0;
    const wanted = piece.slice(skipped);
    if (wanted === "") return;
    const room = line < offset + limit ? fitting(wanted, maxChars - size) : 0;
    if (room > 0) {
      shortLines.push(wanted.slice(0, room));
      size += room;
      last = line;
    }
    if (room < wanted.length) stop(line, at + skipped + room);
  };
  const stop = (stoppedLine: number, stoppedAt: number): void => {
    full = true;
    next = { offset: stoppedLine, column: stoppedAt };
  };
  return {
    full: () => full,
    take(text: string): void {
      for (let start = 0; start < text.length; ) {
        const end = text.indexOf("\n", start);
        const piece = end === -1 ? text.slice(start) : text.slice(start, end + 1);
        keep(piece);
        start += piece.length;
        at += piece.length;
        if (end !== -1) [line, at] = [line + 1, 1];
      }
    },
    result(read: "whole" | "part"): Omit<FileSlice, "kind"> {
      const lines = at === 1 ? line - 1 : line;
      return { text: shortLines.join(""), last, next, lines: read === "whole" ? lines : null };
    },
  };
}

/** How much of the text fits without parting a surrogate pair. */
function fitting(text: string, room: number): number {
  if (text.length <= room) return text.length;
  const code = text.charCodeAt(room - 1);
  return code >= 0xd800 && code <= 0xdbff ? room - 1 : room;
}

/*
 * Writes a file whole or not at all: beside its place first, then moved there. Readers never see half of it, a full disk
 * leaves the old content, and a link or hard link in its place is replaced, not written through.
 */

export async function writeWhole(workspace: Workspace, place: Place, content: string | Uint8Array): Promise<void> {
  const path = virtualPath(place);
  const name = place.segments.at(-1);
  if (name === undefined) throw new ToolFailure(`${path} is a folder: name a file inside of it.`);
  const parent = { ...place, segments: place.segments.slice(0, -1) };
  try {
    const room = (more: Quota) => assertRoom(workspace, more);
    await withFolder(workspace, parent, (folder) => writeIn(folder, { name, content }, room), "create");
  } catch (error) {
    throw failureFor(path, error);
  }
}

interface NewFile {
  readonly name: string;
  readonly content: string | Uint8Array;
}

/** In an open folder; `room` refuses what would be too much. */
export async function writeIn(
  folder: Folder,
  { name, content }: NewFile,
  room: (more: Quota) => Promise<void>,
): Promise<void> {
  const target = folder.at(name);
  const before = await statsOf(target);
  const mode = before === null ? PRIVATE_FILE : before.mode & 0o777;
  await room({
    bytes: Buffer.byteLength(content) - (before?.size ?? 0),
    entries: before === null ? 1 : 0,
  });
  const temporary = folder.at(`.${randomUUID()}.tmp`);
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = FLAGS;
  const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    await file.writeFile(content);
    await file.close();
    await rename(temporary, target);
  } catch (error) {
    await file.close().catch(() => {});
    await rm(temporary, { force: true });
    throw error;
  }
}

/** What stands there keeps its permissions; a folder, a pipe or a device is not replaced. */
async function statsOf(target: string): Promise<Stats | null> {
  const stats = await lstat(target).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  });
  if (stats === null) return null;
  if (stats.isSymbolicLink()) throw Object.assign(new Error("a link"), { code: "ELOOP" });
  if (stats.isDirectory()) throw Object.assign(new Error("a folder"), { code: "EISDIR" });
  if (!stats.isFile()) throw new ToolFailure("The path is not a regular file: choose another name.");
  return stats;
}

/**
 * Replaces one passage of a text by another. Pure. The passage must be there once, or the caller says that all are
 * meant; anything else is told in words that let the model correct itself. Nothing is interpreted: no patterns, no `$`.
 */

type EditResult =
  | { readonly kind: "edited"; readonly text: string; readonly count: number }
  | { readonly kind: "unchanged"; readonly problem: string };

export function editText(text: string, old: string, edit: { readonly by: string; readonly all: boolean }): EditResult {
  if (old === "") return unchanged("old_str is empty: give the exact text to replace, or use write_file.");
  if (old === edit.by) return unchanged("old_str and new_str are the same: nothing would change.");
  const positions = occurrences(text, old);
  if (positions.length === 0) return unchanged(notFound(text, old));
  if (positions.length > 1 && !edit.all) {
    const lines = positions.slice(0, 10).map((index) => lineAt(text, index));
    const more = positions.length > 10 ? ", ..." : "";
    return unchanged(
      `old_str occurs ${positions.length} times (lines ${lines.join(", ")}${more}): add surrounding lines so that it is unique, or set replace_all.`,
    );
  }
  return { kind: "edited", text: text.split(old).join(edit.by), count: positions.length };
}

/** As `split` finds them: from the left, not overlapping. */
function occurrences(text: string, old: string): number[] {
  const positions: number[] = [];
  for (let index = text.indexOf(old); index !== -1; index = text.indexOf(old, index + old.length))
    positions.push(index);
  return positions;
}

function notFound(text: string, old: string): string {
  const near = sameButForSpace(text, old);
  const hint =
    near === null
      ? "Read the file again and copy the passage exactly."
      : `Line ${near} differs only in white space or line ends: copy it exactly.`;
  return `old_str was not found. ${hint}`;
}

/** The line where the passage stands but for spaces, tabs and line ends, if it does. */
function sameButForSpace(text: string, old: string): number | null {
  const wanted = old.split("\n").map(collapseSpaces).filter(Boolean);
  const [first] = wanted;
  if (first === undefined) return null;
  const lines = text.split("\n").map(collapseSpaces);
  for (let start = lines.indexOf(first); start !== -1; start = lines.indexOf(first, start + 1)) {
    const filled = lines.slice(start, start + wanted.length * 3).filter(Boolean);
    if (wanted.every((line, index) => filled[index] === line)) return start + 1;
  }
  return null;
}

function collapseSpaces(line: string): string {
  return line.trim().split(/\s+/).join(" ");
}

function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < index; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

function unchanged(problem: string): EditResult {
  return { kind: "unchanged", problem };
}

/**
 * One writer at a time per key within this process, so that two edits of one file in the same answer both take effect.
 * Other processes are not kept out; a whole-file write keeps them from mixing.
 */
const waiting = new Map<string, Promise<unknown>>();

export function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
  const before = waiting.get(key) ?? Promise.resolve();
  const mine = before.then(work, work);
  const settled = mine.catch(() => {});
  waiting.set(key, settled);
  void settled.then(() => {
    if (waiting.get(key) === settled) waiting.delete(key);
  });
  return mine;
}

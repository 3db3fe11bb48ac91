/**
 * Looks for lines in the files of the workspace, a chunk at a time, so that neither a large file nor a long line fills
 * the memory. Says why it ended. A file that can't be read on the way is passed over, unless it was the one asked for.
 */
import type { FileHandle } from "node:fs/promises";
import type { Matches } from "./glob-pattern.ts";
import { withFile } from "./inside.ts";
import { isBinary } from "./read-lines.ts";
import { ToolFailure } from "./tool-failure.ts";
import { type Place, virtualPath } from "./virtual-path.ts";
import { listFolder, searchStarts, walk } from "./walk.ts";
import type { Workspace } from "./workspace.ts";

export interface Search {
  readonly matches: Matches;
  /** Decides by the path relative to the searched folder. */
  readonly wanted: Matches;
  readonly maxResults: number;
  readonly signal: AbortSignal;
}

interface Hit {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface SearchOutcome {
  readonly hits: readonly Hit[];
  readonly files: number;
  readonly end: "complete" | "max-results" | "stopped";
}

const WALK = { maxEntries: 100_000, maxDepth: 64 };
const CHUNK = 1 << 17;
/** A longer line is matched and shown by pieces of this size. */
const MAX_LINE = 1 << 16;
const SHOWN = 300;

export async function searchFiles(workspace: Workspace, path: string, search: Search): Promise<SearchOutcome> {
  const hits: Hit[] = [];
  let files = 0;
  const read = async (place: Place): Promise<void> => {
    files++;
    await withFile(workspace, place, (file) => searchFile(file, virtualPath(place), search, hits));
  };
  const ended = (): SearchOutcome["end"] | null =>
    hits.length > search.maxResults ? "max-results" : search.signal.aborted ? "stopped" : null;
  const outcome = (end: SearchOutcome["end"]): SearchOutcome => ({
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

async function searchFile(file: FileHandle, path: string, search: Search, hits: Hit[]): Promise<void> {
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
function aroundMatch(text: string, matches: Matches): string {
  if (text.length <= SHOWN) return text;
  for (let start = 0; start < text.length; start += SHOWN / 2) {
    const window = text.slice(start, start + SHOWN);
    if (matches(window)) return `${start > 0 ? "..." : ""}${window}... [at character ${start + 1} of a long line]`;
  }
  return `${text.slice(0, SHOWN)}... [a long line]`;
}

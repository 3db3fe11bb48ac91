/** `read_file`: a range of lines of a text file; says where to go on. */

import { lstat } from "node:fs/promises";
import { describeTool } from "@palimpsest/core/internal/message";
import { imageSize } from "@palimpsest/core/internal/tokens";
import { type Tool, tool } from "ai";
import { z } from "zod/v4";
import {
  type Place,
  placeOf,
  ROOT_NAMES,
  resolveVirtual,
  VIRTUAL_ROOT,
  virtualPath,
  withFile,
  withFolder,
} from "./inside.ts";
import { type FileSlice, type LineRange, type LinesRead, readLines } from "./read-write.ts";
import {
  type FileSearchOutcome,
  globMatcher,
  type Listed,
  lineMatcher,
  listFolder,
  searchFiles,
  searchStarts,
  walk,
} from "./search-files.ts";
import { ToolFailure } from "./tool-failure.ts";
import type { Workspace } from "./workspace.ts";

const DEFAULT_LIMIT = 2000;

const READ_FILE_INPUT = z.object({
  path: z.string().describe("The file; relative paths start in /mnt/user-data/workspace."),
  offset: z.int().min(1).default(1).describe("First line to read, from 1."),
  limit: z.int().min(1).max(DEFAULT_LIMIT).default(DEFAULT_LIMIT).describe("How many lines."),
  column: z.int().min(1).default(1).describe("First character within the first line: to go on inside a long line."),
});

export function readFileTool(workspace: Workspace, { maxChars }: { readonly maxChars: number }): Tool {
  return tool({
    description: `Read a text file by lines. At most ${DEFAULT_LIMIT} lines and ${maxChars} characters at once; the result says how to go on. Works on stored tool outputs and on history.`,
    metadata: describeTool({ act: "read", output: "bounded" }),
    inputSchema: READ_FILE_INPUT,
    execute: async ({ path, offset = 1, limit = DEFAULT_LIMIT, column = 1 }): Promise<string> => {
      const place = placeOf(path);
      const shownPath = virtualPath(place);
      const range = { offset, limit, column, maxChars };
      const read = await withFile(workspace, place, (file) => readLines(file, range));
      return describeFailure(shownPath, read, range);
    },
  });
}

function describeFailure(shownPath: string, read: LinesRead, range: LineRange): string {
  if (read.kind === "binary") throw new ToolFailure(binary(shownPath, read.head));
  if (read.text === "" && read.lines === 0) return `${shownPath} is empty.`;
  if (read.text === "") throw new ToolFailure(pastEnd(shownPath, read, range));
  const notes = [
    ...(read.next === null && range.offset === 1 && range.column === 1 ? [] : [where(read, range)]),
    ...(read.text.includes("\uFFFD") ? ["not all of it is valid UTF-8: such bytes show as \uFFFD"] : []),
  ];
  const end = read.text.endsWith("\n") ? "" : "\n";
  return notes.length === 0 ? read.text : `${read.text}${end}[${notes.join("; ")}]`;
}

function where({ last, lines, next }: FileSlice, { offset, column }: LineRange): string {
  const from = column > 1 ? `line ${offset} from character ${column}` : `line ${offset}`;
  const lineText = last > offset ? `${from} to ${last}` : from;
  const all = lines === null ? "" : ` of ${lines}`;
  if (next === null) return `${lineText}${all}: the end of the file`;
  const inside = next.column > 1 ? `, column: ${next.column}` : "";
  return `${lineText}${all}; go on with offset: ${next.offset}${inside}`;
}

function pastEnd(shownPath: string, { lines }: FileSlice, { offset, column }: LineRange): string {
  const position = column > 1 ? `character ${column} of line ${offset}` : `line ${offset}`;
  return `${shownPath} has ${lines ?? "fewer"} lines; there is no ${position}.`;
}

function binary(shownPath: string, head: Uint8Array): string {
  const type = imageType(head);
  if (type !== null) return `${shownPath} is an image (${type}), not text: use view_image.`;
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)) {
    return `${shownPath} is UTF-16 text, which can't be read directly: convert it to UTF-8 first.`;
  }
  return `${shownPath} is a binary file, not text: look at it with bash (file, od, strings).`;
}

/* `ls`: what a folder holds. */

const MAX_ENTRIES = 500;

const LS_INPUT = z.object({
  path: z.string().default(`${VIRTUAL_ROOT}/workspace`).describe("The folder; relative paths start in the workspace."),
});

export function lsTool(workspace: Workspace): Tool {
  return tool({
    description: `List a folder: names, sizes, and / after folders. Folders: ${VIRTUAL_ROOT}/workspace (your files), uploads (the user's files), outputs (files for the user), history (earlier conversation, read-only), tool-outputs (long tool results, read-only).`,
    metadata: describeTool({ act: "list" }),
    inputSchema: LS_INPUT,
    execute: async ({ path }): Promise<string> => {
      const resolved = resolveVirtual(path);
      if (resolved.kind === "refused") throw new ToolFailure(`${resolved.problem}.`);
      if (resolved.kind === "top") return ROOT_NAMES.map((name) => `${name}/`).join("\n");
      const entries = await listFolder(workspace, resolved.place);
      if (entries.length === 0) return `${virtualPath(resolved.place)} is empty.`;
      const lines = await describeEntry(workspace, resolved.place, entries.slice(0, MAX_ENTRIES));
      const more = entries.length - lines.length;
      return [...lines, ...(more > 0 ? [`[${more} more entries: list a subfolder, or use glob]`] : [])].join("\n");
    },
  });
}

async function describeEntry(workspace: Workspace, place: Place, entries: readonly Listed[]): Promise<string[]> {
  return withFolder(workspace, place, (folder) =>
    Promise.all(
      entries.map(async ({ name, kind }) => {
        if (kind === "folder") return `${name}/`;
        if (kind === "link") return `${name} (a symbolic link: not followed)`;
        const stats = await lstat(folder.at(name)).catch(() => null);
        return stats === null ? `${name} (vanished)` : `${name} (${stats.size} bytes)`;
      }),
    ),
  );
}

/* `glob`: files whose path matches a pattern. */

const MAX_PATHS = 500;
const WALK = { maxEntries: 100_000, maxDepth: 64 };
const GLOB_MAX_MS = 10_000;

const GLOB_INPUT = z.object({
  pattern: z.string().min(1),
  path: z.string().default(`${VIRTUAL_ROOT}/workspace`).describe("The folder to search."),
});

export function globTool(workspace: Workspace): Tool {
  return tool({
    description:
      "Find files by a pattern such as **/*.csv or src/{a,b}/*.ts; without a slash it matches names at any depth.",
    metadata: describeTool({ act: "list" }),
    inputSchema: GLOB_INPUT,
    execute: async ({ pattern, path = `${VIRTUAL_ROOT}/workspace` }, { abortSignal }): Promise<string> => {
      const matches = await globMatcher(pattern);
      const paths: string[] = [];
      const signal = AbortSignal.any([AbortSignal.timeout(GLOB_MAX_MS), ...(abortSignal ? [abortSignal] : [])]);
      let complete = true;
      for (const start of searchStarts(path)) {
        const entries = walk(workspace, start, { ...WALK, signal });
        let step = await entries.next();
        for (; !step.done && paths.length <= MAX_PATHS; step = await entries.next()) {
          const { kind, relative, place } = step.value;
          if (kind === "file" && matches(relative)) paths.push(virtualPath(place));
        }
        complete &&= step.done === true && step.value === "complete";
      }
      if (paths.length === 0) return `No file matches ${JSON.stringify(pattern)} in ${path}.${complete ? "" : CUT}`;
      const list = paths.slice(0, MAX_PATHS).join("\n");
      return complete && paths.length <= MAX_PATHS
        ? list
        : `${list}\n[not all are shown: narrow the pattern or the path]`;
    },
  });
}

const CUT = " The search was cut off: narrow the path.";

/* `grep`: lines that match a pattern, in one file or in all below a folder. Linear in what it reads; bounded in time. */

const GREP_MAX_MS = 10_000;

const GREP_INPUT = z.object({
  pattern: z.string().min(1),
  path: z.string().default(`${VIRTUAL_ROOT}/workspace`).describe("A file or a folder."),
  glob: z.string().min(1).optional().describe("Only files whose path matches, for example *.ts."),
  ignore_case: z.boolean().default(false),
  max_results: z.int().min(1).max(1000).default(100),
});

export function grepTool(workspace: Workspace): Tool {
  return tool({
    description:
      "Search text files for a regular expression (RE2 syntax); gives path:line:text. Binary files and links are passed over.",
    metadata: describeTool({ act: "list" }),
    inputSchema: GREP_INPUT,
    execute: async (input, { abortSignal }): Promise<string> => {
      const { pattern, path = `${VIRTUAL_ROOT}/workspace`, glob, ignore_case = false, max_results = 100 } = input;
      const outcome = await searchFiles(workspace, path, {
        matches: await lineMatcher(pattern, ignore_case ? "any-case" : "exact"),
        wanted: glob === undefined ? () => true : await globMatcher(glob),
        maxResults: max_results,
        signal: AbortSignal.any([AbortSignal.timeout(GREP_MAX_MS), ...(abortSignal ? [abortSignal] : [])]),
      });
      return describeHit(outcome, path);
    },
  });
}

function describeHit({ hits, files, end }: FileSearchOutcome, path: string): string {
  const lines = hits.map(({ path: file, line, text }) => `${file}:${line}:${text}`);
  const note = {
    complete: lines.length === 0 ? `No line matches in ${path} (${files} files searched).` : "",
    "max-results": "[there are more: narrow the pattern, the path or the glob]",
    stopped: `[the search was cut off after ${files} files: narrow the path or the glob]`,
  }[end];
  return [...lines, ...(note === "" ? [] : [note])].join("\n");
}

/* `view_image`: lets a model that sees look at an image of the workspace. */

export interface SeenImage {
  readonly path: string;
  readonly mediaType: ImageType;
  readonly width: number;
  readonly height: number;
}

/** Providers refuse more than 5 MB of base64. */
const MAX_BYTES = 3_700_000;

const VIEW_IMAGE_INPUT = z.object({ path: z.string() });

export function viewImageTool(workspace: Workspace, seen: (image: SeenImage) => Promise<void>): Tool {
  return tool({
    description: "Look at an image file (PNG, JPEG, GIF, WebP) of the workspace.",
    metadata: describeTool({ act: "read" }),
    inputSchema: VIEW_IMAGE_INPUT,
    execute: async ({ path }) => {
      const place = placeOf(path);
      const shownPath = virtualPath(place);
      const { image, base64 } = await withFile(workspace, place, async (file, size) => {
        if (size > MAX_BYTES)
          throw new ToolFailure(`${shownPath} has ${size} bytes; images may have ${MAX_BYTES}: make it smaller.`);
        return readImage(shownPath, await file.readFile());
      });
      await seen(image);
      return { ...image, base64 };
    },
    toModelOutput: ({ output: { path, mediaType, width, height, base64 } }) => ({
      type: "content",
      value: [
        { type: "text", text: `${path}: ${mediaType}, ${width} x ${height} pixels.` },
        { type: "file", mediaType, data: { type: "data", data: base64 } },
      ],
    }),
  });
}

function readImage(path: string, bytes: Buffer): { readonly image: SeenImage; readonly base64: string } {
  const mediaType = imageType(bytes);
  const base64 = bytes.toString("base64");
  const size = mediaType && imageSize({ kind: "image", mediaType, source: { kind: "base64", data: base64 } });
  if (mediaType === null || !size) {
    throw new ToolFailure(`${path} is not a PNG, JPEG, GIF or WebP image that can be shown, whatever its name says.`);
  }
  return { image: { path, mediaType, width: size.width, height: size.height }, base64 };
}

type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

function imageType(head: Uint8Array): ImageType | null {
  const ascii = Buffer.from(head.subarray(0, 16)).toString("latin1");
  if (ascii.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (ascii.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(ascii)) return "image/gif";
  if (ascii.startsWith("RIFF") && ascii.slice(8, 12) === "WEBP") return "image/webp";
  return null;
}

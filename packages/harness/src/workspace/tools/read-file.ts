/** `read_file`: a range of lines of a text file; says where to go on. */
import { type Tool, tool } from "ai";
import { z } from "zod/v4";
import { toolFacts } from "../../tool-facts.ts";
import { imageType } from "../image-type.ts";
import { placeOf, withFile } from "../inside.ts";
import { type LineRange, type LinesRead, readLines, type Slice } from "../read-lines.ts";
import { ToolFailure } from "../tool-failure.ts";
import { virtualPath } from "../virtual-path.ts";
import type { Workspace } from "../workspace.ts";

const DEFAULT_LIMIT = 2000;

const INPUT = z.object({
  path: z.string().describe("The file; relative paths start in /mnt/user-data/workspace."),
  offset: z.int().min(1).default(1).describe("First line to read, from 1."),
  limit: z.int().min(1).max(DEFAULT_LIMIT).default(DEFAULT_LIMIT).describe("How many lines."),
  column: z.int().min(1).default(1).describe("First character within the first line: to go on inside a long line."),
});

export function readFileTool(workspace: Workspace, { maxChars }: { readonly maxChars: number }): Tool {
  return tool({
    description: `Read a text file by lines. At most ${DEFAULT_LIMIT} lines and ${maxChars} characters at once; the result says how to go on. Works on stored tool outputs and on history.`,
    metadata: toolFacts({ act: "read", output: "bounded" }),
    inputSchema: INPUT,
    execute: async ({ path, offset = 1, limit = DEFAULT_LIMIT, column = 1 }): Promise<string> => {
      const place = placeOf(path);
      const shownPath = virtualPath(place);
      const range = { offset, limit, column, maxChars };
      const read = await withFile(workspace, place, (file) => readLines(file, range));
      return describe(shownPath, read, range);
    },
  });
}

function describe(shownPath: string, read: LinesRead, range: LineRange): string {
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

function where({ last, lines, next }: Slice, { offset, column }: LineRange): string {
  const from = column > 1 ? `line ${offset} from character ${column}` : `line ${offset}`;
  const lineText = last > offset ? `${from} to ${last}` : from;
  const all = lines === null ? "" : ` of ${lines}`;
  if (next === null) return `${lineText}${all}: the end of the file`;
  const inside = next.column > 1 ? `, column: ${next.column}` : "";
  return `${lineText}${all}; go on with offset: ${next.offset}${inside}`;
}

function pastEnd(shownPath: string, { lines }: Slice, { offset, column }: LineRange): string {
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

/**
 * Paths under `/memories`: which file a model means, and what is refused because it means another place, or could mean
 * one to somebody else who reads it (`%2e%2e`, backslashes, full-width dots). Pure text work.
 */
import { normalized } from "@palimpsest/core/internal/text";
import { ToolFailure } from "../workspace/tool-failure.ts";
import type { Segments } from "./files.ts";

export const MEMORY_ROOT = "/memories";

const MOST_BYTES = 1024;
const MOST_NAME_BYTES = 200;
const MOST_SEGMENTS = 16;

/** Throws what the tool says to a path that it doesn't take. */
export function memorySegments(path: unknown, parameter = "path"): Segments {
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

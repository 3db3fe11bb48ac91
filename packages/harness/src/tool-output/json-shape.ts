/** A JSON value in short: what its keys hold, how long its lists are, and its first items. Pure; bounded by characters. */
import { clip } from "@palimpsest/core/internal/text";

export function shapeOfJson(value: unknown, maxChars: number): string {
  const shape = clip(`JSON, shape: ${shapeOf(value, 0)}`, Math.floor(maxChars * 0.4));
  const first = firstItems(value, maxChars - shape.length - 40);
  return first === "" ? shape : `${shape}\n${first}`;
}

const MAX_DEPTH = 4;
const MAX_KEYS = 30;

function shapeOf(value: unknown, depth: number): string {
  if (value === null) return "null";
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return `[${value.length} × ${depth >= MAX_DEPTH ? "..." : shapeOf(value[0], depth + 1)}]`;
  }
  if (typeof value === "string") return value.length > 200 ? `string of ${value.length} characters` : "string";
  if (typeof value !== "object") return typeof value;
  const entries = Object.entries(value);
  if (depth >= MAX_DEPTH) return `{${entries.length} keys}`;
  const fields = entries.slice(0, MAX_KEYS).map(([key, inner]) => `${key}: ${shapeOf(inner, depth + 1)}`);
  const more = entries.length > MAX_KEYS ? [`... ${entries.length - MAX_KEYS} more keys`] : [];
  return `{ ${[...fields, ...more].join(", ")} }`;
}

function firstItems(value: unknown, room: number): string {
  if (typeof value !== "object" || value === null || room < 20) return "";
  const list = Array.isArray(value);
  const lines: string[] = [list ? "First items:" : "Values:"];
  let left = room - lines[0]!.length;
  for (const [key, inner] of Object.entries(value)) {
    const line = `${list ? "" : `${key}: `}${clip(JSON.stringify(shortened(inner)), 300)}`;
    left -= line.length + 1;
    if (left < 0) break;
    lines.push(line);
  }
  return lines.length === 1 ? "" : lines.join("\n");
}

/** Long strings and lists inside an item by their starts, so that the item's other keys show. */
function shortened(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return clip(value, 80);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= 3) return Array.isArray(value) ? `[${value.length} items]` : "{...}";
  if (Array.isArray(value)) {
    const items = value.slice(0, 2).map((item) => shortened(item, depth + 1));
    return value.length > 2 ? [...items, `... ${value.length - 2} more`] : items;
  }
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MAX_KEYS)
      .map(([key, inner]) => [key, shortened(inner, depth + 1)]),
  );
}

/**
 * What a tool call was for, as far as its name and arguments tell: which path it touched, which command it ran, whether it
 * read or changed something. Heuristic on purpose: agents bring their own tools, so no list of tool names is complete.
 */

export type ToolUse =
  | { readonly kind: "read"; readonly path: string; readonly whole: boolean }
  | { readonly kind: "change"; readonly path: string; readonly whole: boolean }
  | { readonly kind: "command"; readonly command: string }
  | { readonly kind: "other" };

const PATH_KEYS = ["path", "file_path", "filePath", "filepath", "file", "filename", "target_file", "absolute_path"];
const COMMAND_KEYS = ["command", "cmd", "script"];
const SLICE_KEYS = ["offset", "limit", "start_line", "end_line", "view_range", "startLine", "endLine", "start", "end"];
const READ_NAMES = /read|view|open|cat|show|get_file|fetch/i;
const CHANGE_NAMES = /write|edit|create|replace|patch|insert|append|update|delete/i;
const REWRITE_NAMES = /write|create/i;

export function toolUse(name: string, input: string): ToolUse {
  const args = objectFrom(input);
  if (args === null) return { kind: "other" };
  const path = firstString(args, PATH_KEYS);
  if (path !== null) {
    // A tool may do both (`text_editor` with a `command`): the verb in its arguments decides.
    const verb = `${name} ${firstString(args, COMMAND_KEYS) ?? ""}`;
    if (CHANGE_NAMES.test(verb) && !/^view|read/i.test(firstString(args, COMMAND_KEYS) ?? ""))
      return { kind: "change", path, whole: REWRITE_NAMES.test(verb) };
    if (READ_NAMES.test(verb))
      return { kind: "read", path, whole: SLICE_KEYS.every((key) => args[key] === undefined || args[key] === null) };
  }
  const command = firstString(args, COMMAND_KEYS);
  return command === null ? { kind: "other" } : { kind: "command", command };
}

/** A line that names the call in a replacement. */
export function describeUse(name: string | null, use: ToolUse): string {
  const tool = name ?? "tool";
  switch (use.kind) {
    case "read":
    case "change":
      return `${tool} ${use.path}`;
    case "command":
      return `${tool} \`${oneLine(use.command, 160)}\``;
    case "other":
      return tool;
  }
}

function oneLine(text: string, length: number): string {
  const flat = text.replace(/\s+/g, " ").trim();
  return flat.length <= length ? flat : `${flat.slice(0, length - 1)}…`;
}

function objectFrom(input: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

function firstString(args: Record<string, unknown>, keys: readonly string[]): string | null {
  for (const key of keys) {
    const value = args[key];
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}

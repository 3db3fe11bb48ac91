/**
 * What a tool call was for, to the pruner: which path it touched, which command it ran, whether it read or changed
 * something. A tool nobody knows is guessed at: the original stays in the log.
 */
import type { CallPart } from "../../message/shape.ts";
import { readCall } from "../../summary/ledger/tool-calls.ts";
import { oneLine } from "../../text/clip.ts";

export type ToolUse =
  | { readonly kind: "read"; readonly path: string; readonly whole: boolean }
  | { readonly kind: "change"; readonly path: string; readonly whole: boolean }
  | { readonly kind: "command"; readonly command: string }
  | { readonly kind: "other" };

export function toolUse(call: CallPart): ToolUse {
  const meaning = readCall(call, "guess");
  if (meaning.kind === "shell") return { kind: "command", command: meaning.command };
  const [only, another] = meaning.kind === "files" ? meaning.acts : [];
  if (meaning.kind !== "files" || only === undefined || another !== undefined || only.act === "move")
    return { kind: "other" };
  if (only.act === "read") return { kind: "read", path: only.path, whole: meaning.range === "whole" };
  return { kind: "change", path: only.path, whole: only.act === "write" };
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

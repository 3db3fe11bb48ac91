/** What all three protocols have in common in a request: a model, a list of messages, tools with names, a stream or not. */
import { isRecord } from "@palimpsest/core/internal/text";
import { type Malformed, malformed } from "./protocol.ts";

interface Common {
  readonly kind: "common";
  readonly model: string;
  readonly stream: boolean;
  readonly list: readonly unknown[];
  readonly tools: readonly unknown[];
}

export function readCommon(body: Record<string, unknown>, subject: string): Common | Malformed {
  const { model, stream, tools } = body;
  const list = body[subject];
  if (typeof model !== "string" || model === "") return malformed("you must provide a model parameter", "model");
  if (!Array.isArray(list)) return malformed(`Missing required parameter: '${subject}'.`, subject);
  if (stream !== undefined && typeof stream !== "boolean") return malformed("stream is not a boolean", "stream");
  if (tools !== undefined && !Array.isArray(tools)) return malformed("tools is not an array", "tools");
  return { kind: "common", model, stream: stream === true, list, tools: tools ?? [] };
}

type Names = { readonly kind: "names"; readonly names: readonly string[] } | Malformed;

export function toolNames(tools: readonly unknown[], nameOf: (tool: Record<string, unknown>) => unknown): Names {
  const names: string[] = [];
  for (const [index, tool] of tools.entries()) {
    const name = isRecord(tool) ? nameOf(tool) : undefined;
    if (typeof name !== "string" || !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
      return malformed("a tool's name must match ^[a-zA-Z0-9_-]{1,64}$", `tools[${index}].name`);
    }
    if (names.includes(name)) return malformed("tool names must be unique", `tools[${index}].name`);
    names.push(name);
  }
  return { kind: "names", names };
}

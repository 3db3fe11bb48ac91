/** What all three protocols have in common in a request: a model, a list of messages, tools with names, a stream or not. */
import { isRecord } from "@palimpsest/core/internal/text";
import { type Malformed, malformed } from "./protocol.ts";

interface Common {
  readonly kind: "common";
  readonly list: readonly unknown[];
  readonly tools: readonly unknown[];
  readonly request: {
    readonly kind: "request";
    readonly model: string;
    readonly stream: boolean;
    /** Names of the tools. */
    readonly tools: readonly string[];
  };
}

type NameOf = (tool: Record<string, unknown>) => unknown;

export function readCommon(body: Record<string, unknown>, subject: string, nameOf: NameOf): Common | Malformed {
  const { model, stream, tools = [] } = body;
  const list = body[subject];
  if (typeof model !== "string" || model === "") return malformed("you must provide a model parameter", "model");
  if (!Array.isArray(list)) return malformed(`Missing required parameter: '${subject}'.`, subject);
  if (stream !== undefined && typeof stream !== "boolean") return malformed("stream is not a boolean", "stream");
  if (!Array.isArray(tools)) return malformed("tools is not an array", "tools");
  const names: string[] = [];
  for (const [index, tool] of tools.entries()) {
    const name = isRecord(tool) ? nameOf(tool) : undefined;
    if (typeof name !== "string" || !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
      return malformed("a tool's name must match ^[a-zA-Z0-9_-]{1,64}$", `tools[${index}].name`);
    }
    if (names.includes(name)) return malformed("tool names must be unique", `tools[${index}].name`);
    names.push(name);
  }
  return { kind: "common", list, tools, request: { kind: "request", model, stream: stream === true, tools: names } };
}

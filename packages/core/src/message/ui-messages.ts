/**
 * Reads the AI SDK's UI messages, what a page keeps and shows, as the model messages they stand for. An answer of several
 * steps is several messages; what a tool part says of its call and of its result goes to the two places it has with a
 * model. What has no place there is named in `lost`, part by part.
 */
import { isRecord } from "../text/names.ts";
import type { AiSdkMessage, AiSdkOutput, AiSdkPart } from "./ai-sdk.ts";
import type { Fields } from "./schema.ts";

export interface ReadUiMessages {
  readonly messages: readonly AiSdkMessage[];
  /** For each message, the index of the UI message it comes from. */
  readonly origins: readonly number[];
  readonly lost: readonly LostPart[];
}

interface LostPart {
  /** The UI message's index. */
  readonly index: number;
  readonly type: string;
  readonly reason: string;
}

/** A role, and parts that say their types: Gemini's contents have parts, too, but theirs have none. */
export function isUiMessage(value: unknown): value is Fields {
  if (!isRecord(value) || typeof value["role"] !== "string") return false;
  const parts = value["parts"];
  if (Array.isArray(parts))
    return parts.length > 0 && parts.every((part) => isRecord(part) && typeof part["type"] === "string");
  return Array.isArray(value["toolInvocations"]);
}

export function readUiMessages(values: readonly unknown[]): ReadUiMessages {
  const messages: AiSdkMessage[] = [];
  const origins: number[] = [];
  const lost: LostPart[] = [];
  for (const [index, value] of values.entries()) {
    const lose = (type: string, reason: string): undefined => void lost.push({ index, type, reason });
    const read = isUiMessage(value) ? readOne(value, lose) : [];
    if (read.length === 0) lose("message", isUiMessage(value) ? "nothing in it is for a model" : "it is no UI message");
    messages.push(...read);
    origins.push(...read.map(() => index));
  }
  return { messages, origins, lost };
}

type Lose = (type: string, reason: string) => undefined;

function readOne(message: Fields, lose: Lose): readonly AiSdkMessage[] {
  const parts = partsOf(message);
  const role = message["role"];
  if (role === "assistant") return stepsOf(parts).flatMap((step) => readStep(step, lose));
  if (role !== "user" && role !== "system")
    return lose(String(role), "a UI message is the system's, the user's or the assistant's") ?? [];
  const content = parts.flatMap((part) => readContent(part, lose) ?? []);
  if (content.length === 0) return [];
  if (role === "user") return [{ role, content }];
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return [{ role, content: texts.join("") }];
}

/** Version 4 kept the text and the calls beside each other. */
function partsOf(message: Fields): readonly Fields[] {
  const { parts, content, toolInvocations } = message;
  if (Array.isArray(parts)) return parts as readonly Fields[];
  const calls = (toolInvocations as readonly Fields[]).map((toolInvocation) => ({
    type: "tool-invocation",
    toolInvocation,
  }));
  return typeof content === "string" && content !== "" ? [...calls, { type: "text", text: content }] : calls;
}

function stepsOf(parts: readonly Fields[]): readonly (readonly Fields[])[] {
  const steps: Fields[][] = [[]];
  for (const part of parts) {
    const last = steps.at(-1)!;
    const followsTools = last.some(isTool) && !isTool(part);
    if (part["type"] === "step-start" || followsTools) steps.push([]);
    if (part["type"] !== "step-start") steps.at(-1)!.push(part);
  }
  return steps.filter((step) => step.length > 0);
}

const isTool = ({ type }: Fields): boolean => type === "dynamic-tool" || String(type).startsWith("tool-");

function readStep(step: readonly Fields[], lose: Lose): readonly AiSdkMessage[] {
  const content: AiSdkPart[] = [];
  const results: AiSdkPart[] = [];
  for (const part of step) {
    const tool = isTool(part) ? readTool(part, lose) : null;
    if (tool !== null) {
      content.push(tool.call);
      if (tool.result !== null) results.push(tool.result);
    } else if (!isTool(part)) content.push(...[readContent(part, lose) ?? []].flat());
  }
  return [
    ...(content.length > 0 ? [{ role: "assistant", content } as const] : []),
    ...(results.length > 0 ? [{ role: "tool", content: results } as const] : []),
  ];
}

function readContent(part: Fields, lose: Lose): AiSdkPart | undefined {
  const type = String(part["type"]);
  const metadata = optionsOf(part["providerMetadata"]);
  if (type === "text") {
    const text = String(part["text"] ?? "");
    return text === "" ? undefined : { type, text, ...metadata };
  }
  if (type === "reasoning") return { type, text: String(part["text"] ?? part["reasoning"] ?? ""), ...metadata };
  if (type === "file") {
    const filename = typeof part["filename"] === "string" ? { filename: part["filename"] } : {};
    const mediaType = String(part["mediaType"] ?? part["mimeType"] ?? "application/octet-stream");
    const data = String(part["url"] ?? part["data"] ?? "");
    return { type, mediaType, data, ...filename, ...metadata };
  }
  return lose(type, type.startsWith("data-") ? "data for the page" : "a part that no model is sent");
}

const optionsOf = (metadata: unknown) => (isRecord(metadata) ? { providerOptions: metadata as never } : {});

/** Parts of version 4 hold an invocation; later ones are it. */
function readTool(part: Fields, lose: Lose): { readonly call: AiSdkPart; readonly result: AiSdkPart | null } | null {
  const invocation = isRecord(part["toolInvocation"]) ? part["toolInvocation"] : part;
  const type = String(part["type"]);
  const toolName = String(invocation["toolName"] ?? type.slice("tool-".length));
  const { toolCallId, state } = invocation;
  if (typeof toolCallId !== "string") return lose(type, "it names no call") ?? null;
  if (state === "input-streaming" || state === "partial-call")
    return lose(type, "its input never arrived whole") ?? null;
  if (isRecord(invocation["approval"])) lose(type, "its approval; the call itself is kept");
  const input = invocation["input"] ?? invocation["args"] ?? invocation["rawInput"] ?? {};
  const call: AiSdkPart = {
    type: "tool-call",
    toolCallId,
    toolName,
    input,
    ...optionsOf(invocation["callProviderMetadata"]),
  };
  const output = outputOf(invocation);
  return { call, result: output === null ? null : { type: "tool-result", toolCallId, toolName, output } };
}

/** Null while there is none. */
function outputOf(invocation: Fields): AiSdkOutput | null {
  switch (invocation["state"]) {
    case "output-available":
    case "result": {
      const value = invocation["output"] ?? invocation["result"] ?? null;
      return typeof value === "string" ? { type: "text", value } : { type: "json", value };
    }
    case "output-error":
      return { type: "error-text", value: String(invocation["errorText"] ?? "The tool failed.") };
    case "output-denied":
      return { type: "execution-denied" };
    default:
      return null;
  }
}

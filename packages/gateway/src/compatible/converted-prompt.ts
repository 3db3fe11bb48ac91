/** A request of any vendor as the AI SDK's models take it, read through its shape. */

import {
  type FilePart,
  type ImagePart,
  isNestedTooDeeply,
  jsonOr,
  type Part,
  type Shape,
} from "@palimpsest/core/internal/message";
import type { ResolvedModel } from "palimpsest/models";
import { ProblemError } from "../http/problem.ts";
import { fieldsOf, type JsonFields, objectOf } from "../http/read-json.ts";
import type { VendorRequest } from "./vendor.ts";

type ModelCallOptions = Parameters<ResolvedModel["language"]["doStream"]>[0];
type PromptMessage = ModelCallOptions["prompt"][number];

export function callOptions<M>(
  {
    request,
    messages,
    body,
  }: { readonly request: VendorRequest<M>; readonly messages: readonly M[]; readonly body: JsonFields },
  shape: Shape<M>,
): ModelCallOptions {
  const { system, maxTokens } = request;
  const tools = request.tools.flatMap(toolOf);
  return {
    prompt: [...(system === "" ? [] : [{ role: "system" as const, content: system }]), ...promptOf(messages, shape)],
    ...settingsOf(body, tools),
    ...(maxTokens !== null && { maxOutputTokens: maxTokens }),
    ...(tools.length > 0 && { tools }),
  };
}

/** The three spellings of a function; tools that a vendor runs itself can't be taken elsewhere. */
function toolOf(tool: unknown): FunctionTool[] {
  const fields = fieldsOf(tool);
  const given = fieldsOf(fields["function"] ?? fields);
  const schema = given["parameters"] ?? given["input_schema"] ?? (isFunction(fields) ? NO_PARAMETERS : undefined);
  if (typeof given["name"] !== "string" || schema === undefined) return [];
  const description = given["description"];
  return [
    {
      type: "function",
      name: given["name"],
      inputSchema: schema as FunctionTool["inputSchema"],
      ...(typeof description === "string" && { description }),
    },
  ];
}

/** OpenAI's functions may go without parameters. */
const isFunction = ({ type }: JsonFields): boolean => type === undefined || type === "function";
const NO_PARAMETERS = { type: "object", properties: {} };

function promptOf<M>(messages: readonly M[], shape: Shape<M>): PromptMessage[] {
  const names = new Map<string, string>();
  // What came with results waits for the last of them: nothing may stand between calls and their results.
  let waiting: Part[] = [];
  const prompt = messages.flatMap((message): PromptMessage[] => {
    const parts = shape.parts(message);
    for (const part of parts) if (part.kind === "call") names.set(part.id, part.name);
    const role = shape.role(message);
    if (role === "tool") {
      waiting.push(...parts.flatMap((part): readonly Part[] => (part.kind === "result" ? part.images : [part])));
      return [{ role, content: parts.flatMap((part) => resultPart(part, names)) }];
    }
    const before = userMessages(waiting);
    waiting = [];
    return [...before, ...messagesOf(role, parts)];
  });
  return [...prompt, ...userMessages(waiting)];
}

function messagesOf(role: "system" | "user" | "assistant", parts: readonly Part[]): PromptMessage[] {
  if (role === "system") return [{ role, content: textOf(parts) }];
  if (role === "user") return userMessages(parts);
  const content = parts.flatMap(assistantPart);
  return content.length === 0 ? [] : [{ role, content }];
}

function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n\n");
}

type PromptUserContent = Extract<PromptMessage, { role: "user" }>["content"];
type AssistantContent = Extract<PromptMessage, { role: "assistant" }>["content"];
type ToolContent = Extract<PromptMessage, { role: "tool" }>["content"];

function userMessages(parts: readonly Part[]): PromptMessage[] {
  const content = parts.flatMap((part): PromptUserContent => {
    if (part.kind === "text") return [{ type: "text", text: part.text }];
    return part.kind === "image" || part.kind === "file" ? [fileOf(part)] : [];
  });
  return content.length === 0 ? [] : [{ role: "user", content }];
}

/** What is only referred to would have to be fetched, and no address of a request is. */
function fileOf(part: ImagePart | FilePart): PromptUserContent[number] {
  const data = part.kind === "image" ? (part.source.kind === "base64" ? part.source.data : "") : part.data;
  if (data === "")
    throw new ProblemError(
      400,
      "not-inline",
      "this model is another vendor's: send images and files inline, not by address",
    );
  if (part.kind === "file" && part.encoding === "text") return { type: "text", text: data };
  return {
    type: "file",
    mediaType: part.mediaType ?? "image/*",
    data: { type: "data", data },
    ...(part.name != null && { filename: part.name }),
  };
}

/** Thinking is its maker's alone. */
function assistantPart(part: Part): AssistantContent {
  if (part.kind === "text") return part.text === "" ? [] : [{ type: "text", text: part.text }];
  if (part.kind === "other") return summaryOf(part.json);
  if (part.kind !== "call") return [];
  return [{ type: "tool-call", toolCallId: part.id, toolName: part.name, input: callInput(part.input) }];
}

/** What a vendor's server has summarized: another one can read its words, if they are there to be read. */
function summaryOf(json: string): AssistantContent {
  const { type, content } = fieldsOf(JSON.parse(json));
  return type === "compaction" && typeof content === "string" ? [{ type: "text", text: content }] : [];
}

function resultPart(part: Part, names: ReadonlyMap<string, string>): ToolContent {
  if (part.kind !== "result") return [];
  const toolName = part.name ?? names.get(part.id) ?? "tool";
  const value = part.text === "" && part.images.length > 0 ? "[the image follows]" : part.text;
  const output = { type: part.isError ? ("error-text" as const) : ("text" as const), value };
  return [{ type: "tool-result", toolCallId: part.id, toolName, output }];
}

/*
 * Request settings as the AI SDK takes them: sampling, stop sequences, tool choice, format of the answer. Reads each vendor's
 * spelling; settings that only the vendor knows are dropped.
 */

type FunctionTool = Extract<NonNullable<ModelCallOptions["tools"]>[number], { readonly type: "function" }>;

export function settingsOf(body: JsonFields, tools: readonly FunctionTool[]): JsonFields {
  const settings = {
    temperature: body["temperature"],
    topP: body["top_p"],
    topK: body["top_k"],
    seed: body["seed"],
    presencePenalty: body["presence_penalty"],
    frequencyPenalty: body["frequency_penalty"],
    stopSequences: stopsIn(body),
    toolChoice: choiceIn(body["tool_choice"], tools),
    providerOptions: tools.length > 0 && isOneAtATime(body) ? ONE_AT_A_TIME : null,
    responseFormat: formatIn(body),
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value != null));
}

function stopsIn({ stop, stop_sequences: sequences }: JsonFields): string[] | null {
  const stops = [stop ?? sequences ?? []].flat().filter((one) => typeof one === "string");
  return stops.length === 0 ? null : stops;
}

function choiceIn(given: unknown, tools: readonly FunctionTool[]): ModelCallOptions["toolChoice"] | null {
  if (tools.length === 0) return null;
  const choice = fieldsOf(given);
  const { type = given } = choice;
  const { mode = type } = type === "allowed_tools" ? fieldsOf(choice["allowed_tools"] ?? choice) : {};
  if (mode === "auto" || mode === "none" || mode === "required") return { type: mode };
  if (mode === "any") return { type: "required" };
  const toolName = choice["name"] ?? fieldsOf(choice["function"])["name"];
  const chosen = tools.find(({ name }) => name === toolName);
  return chosen === undefined ? null : { type: "tool", toolName: chosen.name };
}

function isOneAtATime(body: JsonFields): boolean {
  return body["parallel_tool_calls"] === false || fieldsOf(body["tool_choice"])["disable_parallel_tool_use"] === true;
}

/** Each provider reads its own. */
const ONE_AT_A_TIME = { openai: { parallelToolCalls: false }, anthropic: { disableParallelToolUse: true } };

function formatIn(body: JsonFields): ModelCallOptions["responseFormat"] | null {
  const format = fieldsOf(
    body["response_format"] ?? fieldsOf(body["text"])["format"] ?? fieldsOf(body["output_config"])["format"],
  );
  if (format["type"] === "json_object") return { type: "json" };
  if (format["type"] !== "json_schema") return null;
  const { name, description, schema } = fieldsOf(format["json_schema"] ?? format);
  return {
    type: "json",
    ...(typeof schema === "object" && schema !== null && { schema }),
    ...(typeof name === "string" && { name }),
    ...(typeof description === "string" && { description }),
  };
}

/** The input of a call as an object, which is all that some vendors take. */

/**
 * Text that is no JSON object, or is nested too deeply to be written again, stands under the name that Anthropic gives it
 * for being handed back to a model.
 */
export function callInput(text: string): object {
  if (isNestedTooDeeply(text)) return { INVALID_JSON: text };
  return objectOf(text === "" ? {} : jsonOr(text, null)) ?? { INVALID_JSON: text };
}

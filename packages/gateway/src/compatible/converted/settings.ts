/**
 * What a request says beside its messages and tools, as the AI SDK's models take it: how to sample, where to stop, which
 * tool to call, which form the answer has. Each vendor's spelling is read; what only its vendor knows stays behind.
 */
import type { ResolvedModel } from "palimpsest/models";
import type { Fields } from "../vendor.ts";

type CallOptions = Parameters<ResolvedModel["language"]["doStream"]>[0];
export type FunctionTool = Extract<NonNullable<CallOptions["tools"]>[number], { readonly type: "function" }>;

export function settingsOf(body: Fields, tools: readonly FunctionTool[]): Fields {
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

function stopsIn({ stop, stop_sequences: sequences }: Fields): string[] | null {
  const stops = [stop ?? sequences ?? []].flat().filter((one) => typeof one === "string");
  return stops.length === 0 ? null : stops;
}

function choiceIn(given: unknown, tools: readonly FunctionTool[]): CallOptions["toolChoice"] | null {
  if (tools.length === 0) return null;
  const choice = fieldsOf(given);
  const { type = given } = choice;
  const { mode = type } = type === "allowed_tools" ? fieldsOf(choice["allowed_tools"] ?? choice) : {};
  if (mode === "auto" || mode === "none" || mode === "required") return { type: mode };
  if (mode === "any") return { type: "required" };
  const toolName = choice["name"] ?? fieldsOf(choice["function"])["name"];
  return tools.some(({ name }) => name === toolName) ? { type: "tool", toolName: toolName as string } : null;
}

function isOneAtATime(body: Fields): boolean {
  return body["parallel_tool_calls"] === false || fieldsOf(body["tool_choice"])["disable_parallel_tool_use"] === true;
}

/** Each provider reads its own. */
const ONE_AT_A_TIME = { openai: { parallelToolCalls: false }, anthropic: { disableParallelToolUse: true } };

function formatIn(body: Fields): CallOptions["responseFormat"] | null {
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

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

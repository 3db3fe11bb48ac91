/** The shape of the Responses API's messages. */

import { shapeOf } from "@palimpsest/core/internal/message";
import { ProblemError } from "../../http/problem.ts";
import { fieldsOf, type JsonFields, listIn, parseFields } from "../../http/read-json.ts";
import type { Secret } from "../match.ts";
import type { CompatibleCall, CompatibleDeps } from "../serve.ts";

export const responsesShape = shapeOf("openai-responses");

/* What a request says of conversations that OpenAI's server would hold. What is wrong with it is thrown, in OpenAI's codes. Pure. */

export interface ServerParams {
  readonly previous: string | null;
  readonly conversation: string | null;
  /** `no`: it can't be asked for by its id. */
  readonly store: "yes" | "no";
  readonly background: "yes" | "no";
  /** Tokens; null: the client asks for no compaction. */
  readonly threshold: number | null;
  /** Whether it ends with the wish for a compaction instead of a question. */
  readonly trigger: "yes" | "no";
}

/** Answered here, and never handed on. */
export const WITHHELD: readonly string[] = ["previous_response_id", "conversation", "background", "context_management"];

export function readParams(body: JsonFields): ServerParams {
  const { previous_response_id: previous, store, background } = body;
  if (previous != null && body["conversation"] != null)
    throw problem(
      "mutually_exclusive_parameters",
      "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Provide only one of them.",
      "conversation",
    );
  const response = idIn(previous ?? null, "resp", "previous_response_id");
  const conversation = conversationIn(body["conversation"] ?? null);
  for (const [param, value] of Object.entries({ store, background }))
    if (value != null && typeof value !== "boolean")
      throw problem("invalid_type", `Invalid type for '${param}': expected a boolean.`, param);
  if (background === true && store === false)
    throw problem("invalid_value", "'background' needs 'store': its answer is asked for by its id.", "background");
  return {
    previous: response,
    conversation,
    store: store === false ? "no" : "yes",
    background: background === true ? "yes" : "no",
    threshold: thresholdIn(body["context_management"] ?? null),
    trigger: triggerIn(body["input"]),
  };
}

/** As a string, or as an object with its id. */
function conversationIn(value: unknown): string | null {
  if (typeof value !== "object" || value === null) return idIn(value, "conv", "conversation");
  const { id } = fieldsOf(value);
  if (id === undefined)
    throw problem("missing_required_parameter", "Missing required parameter: 'conversation.id'.", "conversation.id");
  return idIn(id, "conv", "conversation.id");
}

function idIn(value: unknown, prefix: string, param: string): string | null {
  if (value === null) return null;
  if (typeof value !== "string") throw problem("invalid_type", `Invalid type for '${param}': expected an id.`, param);
  if (value.startsWith(`${prefix}_`)) return value;
  throw problem("invalid_value", `Invalid '${param}': expected an id that begins with '${prefix}'.`, param);
}

/** Without a number of its own it is as configured. */
function thresholdIn(value: unknown): number | null {
  if (value === null) return null;
  if (!Array.isArray(value))
    throw problem("invalid_type", "Invalid type for 'context_management': expected a list.", "context_management");
  let tokens: number | null = null;
  for (const [index, entry] of value.entries()) {
    const at = `context_management[${index}]`;
    const { type, compact_threshold: given } = fieldsOf(entry);
    if (type !== "compaction")
      throw problem("invalid_value", `Invalid value for '${at}.type': expected 'compaction'.`, `${at}.type`);
    if (given != null && (typeof given !== "number" || !Number.isInteger(given)))
      throw problem(
        "invalid_type",
        `Invalid type for '${at}.compact_threshold': expected an integer.`,
        `${at}.compact_threshold`,
      );
    if (given != null && given < 1)
      throw problem(
        "integer_below_min_value",
        `Invalid '${at}.compact_threshold': expected at least 1.`,
        `${at}.compact_threshold`,
      );
    tokens = Math.min(tokens ?? Number.MAX_SAFE_INTEGER, given ?? Number.MAX_SAFE_INTEGER);
  }
  return tokens;
}

function triggerIn(input: unknown): "yes" | "no" {
  const items = listIn(input);
  const at = items.findIndex((item) => fieldsOf(item)["type"] === "compaction_trigger");
  if (at === -1) return "no";
  if (at === items.length - 1) return "yes";
  throw problem(
    "invalid_value",
    "A 'compaction_trigger' is the last item of the input: nothing may follow it.",
    `input[${at}]`,
  );
}

const problem = (code: string, message: string, param: string): ProblemError => refusal(400, { code, message, param });

/* Refusals in OpenAI's words and codes, for what is held here. */

export function refusal(
  status: number,
  { code, message, param = null }: { readonly code: string; readonly message: string; readonly param?: string | null },
  headers: Readonly<Record<string, string>> = {},
): ProblemError {
  return new ProblemError(status, code, message, { details: { param }, headers });
}

export const noPrevious = (id: string): ProblemError =>
  refusal(400, {
    code: "previous_response_not_found",
    message: `Previous response with id '${id}' not found.`,
    param: "previous_response_id",
  });

export const noResponse = (id: string): ProblemError =>
  refusal(404, { code: "not_found", message: `Response with id '${id}' not found.` });

export const noConversation = (id: string): ProblemError =>
  refusal(404, { code: "not_found", message: `Conversation with id '${id}' not found.` });

export const noItem = (id: string, param: string | null = null): ProblemError =>
  refusal(404, { code: "not_found", message: `Item with id '${id}' not found.`, param });

/** Their clients try again where a header says so. */
export const conversationLocked = (): ProblemError =>
  refusal(
    400,
    {
      code: "conversation_locked",
      message: "Another process is currently operating on this conversation. Please retry in a few seconds.",
      param: "conversation",
    },
    { "x-should-retry": "true", "retry-after-ms": "250" },
  );

export const notVerified = (param: string): ProblemError =>
  refusal(400, {
    code: "invalid_encrypted_content",
    message:
      "The encrypted content of a compaction item could not be verified: it was changed, or its conversation is gone.",
    param,
  });

/* A request to a resource that is held here, and what it says. */

export interface ResourceCall {
  readonly call: CompatibleCall;
  readonly deps: CompatibleDeps;
  readonly secret: Secret;
  readonly query: URLSearchParams;
}

/** Nothing is an empty object. */
export async function bodyOf(call: CompatibleCall): Promise<JsonFields> {
  const text = (await call.body()).toString();
  const fields = parseFields(text === "" ? "{}" : text);
  if (fields !== null) return fields;
  throw refusal(400, { code: "bad-json", message: "the body is no JSON object" });
}

/** A response as the API has it, in which the request's settings stand again. */
export function responseBody(body: JsonFields, own: JsonFields): JsonFields {
  return {
    ...own,
    object: "response",
    error: null,
    incomplete_details: own["incomplete_details"] ?? null,
    instructions: body["instructions"] ?? null,
    metadata: body["metadata"] ?? {},
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    temperature: body["temperature"] ?? null,
    tool_choice: body["tool_choice"] ?? "auto",
    tools: body["tools"] ?? [],
    top_p: body["top_p"] ?? null,
    usage: own["usage"] ?? null,
  };
}

/** What a response took, as the Responses API says it. */
interface Took {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly reasoning?: number;
}

export function responsesUsage({ input, output, cached, reasoning = 0 }: Took) {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}

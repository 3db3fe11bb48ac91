/**
 * Tells "the prompt is too long" from every other refusal, in each provider's own words: by status, error code, body or
 * finish reason. Reads the limit and the prompt's size where the provider states them. Pure.
 */
import { statusOf, unwrapped } from "../models/call-error.ts";

export interface Overflow {
  /** `tokens`: the window is too small for it. `bytes`: the request's body is too large, whatever it counts. */
  readonly kind: "tokens" | "bytes";
  /** The window the provider stated, and the size of the prompt as it counted it. */
  readonly limit: number | null;
  readonly requested: number | null;
}

/** Null: the call failed for another reason. */
export function overflowOf(thrown: unknown): Overflow | null {
  const error = unwrapped(thrown);
  const words = wordsOf(error);
  const status = statusOf(error);
  if (status !== null && (status === 401 || status === 403 || status === 429)) return null;
  if (TOO_LONG.some((wording) => wording.test(words))) return { kind: "tokens", ...numbersIn(words) };
  if (status === 413 || /request_too_large|payload too large|request entity too large/i.test(words)) {
    return { kind: "bytes", limit: null, requested: null };
  }
  return null;
}

/** A call that ended well except that the window was full: Anthropic says so as the reason it stopped. */
export function isOverflowFinish(raw: string | undefined): boolean {
  return raw === "model_context_window_exceeded";
}

/** One line per wording; a provider that copies another one's API copies its words. */
const TOO_LONG: readonly RegExp[] = [
  /context_length_exceeded/i, // OpenAI, Azure, OpenRouter, Groq: the code
  /maximum context length/i, // OpenAI, vLLM, Mistral's older wording, OpenRouter
  /max_model_len|maximum model length/i, // vLLM
  /exceeds? (?:the|this) (?:model'?s? )?(?:maximum )?context (?:window|length|size)/i, // OpenAI responses, llama.cpp, LM Studio
  /exceeds? the (?:available|configured|maximum) context/i, // llama.cpp, Ollama
  /exceed_context_size_error/i, // llama.cpp: the type
  /prompt is too long/i, // Anthropic
  /input is too long|input length and `?max_tokens`? exceed|too many (?:input )?tokens/i, // Bedrock, Anthropic
  /input token count .{0,300}exceeds/is, // Google
  /prompt contains \d+ tokens .{0,300} too large|too large for model with \d+ maximum/is, // Mistral
  /(?:tokens to keep|number of tokens).{0,300}(?:context (?:length|window)|n_ctx)/is, // LM Studio
  /prompt too long|input exceeds|exceeded max context length/i, // Ollama
  /context (?:window|length|size) (?:is |has been |was )?(?:exceeded|full|overflow)/i, // LM Studio, others
];

function wordsOf(error: unknown): string {
  if (typeof error === "string") return error;
  if (typeof error !== "object" || error === null) return "";
  const fields: unknown[] = [];
  if (error instanceof Error) fields.push(error.message);
  // vLLM's message is "Bad Request"; what it means stands in the body alone.
  for (const key of ["message", "code", "type", "responseBody", "data", "error"] as const) {
    if (key in error) fields.push((error as Record<string, unknown>)[key]);
  }
  return fields.map((field) => (typeof field === "string" ? field : safeJson(field))).join("\n");
}

function safeJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}

const LIMIT: readonly RegExp[] = [
  /maximum context length (?:is|of) (\d[\d,_]{2,})/i,
  /> (\d[\d,_]{2,}) maximum/i,
  /"n_ctx"\s*:\s*(\d[\d,_]{2,})/i,
  /maximum number of tokens allowed \(?(\d[\d,_]{2,})/i,
  /model with (\d[\d,_]{2,}) maximum context/i,
  /context (?:length|window|size) (?:of |is |\()(?:only )?(\d[\d,_]{2,})/i,
  /max_model_len\D{0,12}(\d[\d,_]{2,})/i,
  /(?:limit|maximum) (?:is|of) (\d[\d,_]{2,})/i,
];

const REQUESTED: readonly RegExp[] = [
  /resulted in (\d[\d,_]{2,}) tokens/i,
  /requested (\d[\d,_]{2,}) tokens/i,
  /prompt is too long: (\d[\d,_]{2,}) tokens/i,
  /"n_prompt_tokens"\s*:\s*(\d[\d,_]{2,})/i,
  /(?:input )?token count \(?(\d[\d,_]{2,})\)? exceeds/i,
  /prompt contains (\d[\d,_]{2,}) tokens/i,
  /(?:prompt|request) \(?(\d[\d,_]{2,}) tokens/i,
];

function numbersIn(words: string): Pick<Overflow, "limit" | "requested"> {
  return { limit: firstNumber(words, LIMIT), requested: firstNumber(words, REQUESTED) };
}

function firstNumber(words: string, patterns: readonly RegExp[]): number | null {
  for (const pattern of patterns) {
    const digits = pattern.exec(words)?.[1];
    if (digits !== undefined) return Number(digits.replace(/[,_]/g, ""));
  }
  return null;
}

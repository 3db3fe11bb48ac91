/**
 * Reads the usage that providers and recorders report, each in its own spelling, and makes `input` mean the whole prompt.
 * A report of zero is kept as it is: whether a number is possible is the token account's judgement.
 */
import { isRecord } from "@palimpsest/core/internal/text";
import type { Usage } from "./usage.ts";

/** Null: it states no input. */
export function readUsage(usage: unknown): Usage | null {
  if (!isRecord(usage)) return null;
  const number = (...names: readonly string[]) => firstNumber(usage, names);
  if (number("prompt_tokens") !== null) return openaiUsage(usage);
  if (number("inputTokens") !== null) return aiSdkUsage(usage);
  if (number("promptTokenCount") !== null) return geminiUsage(usage);
  const input = number("input", "input_tokens");
  if (input === null) return null;
  // The Responses API and LangChain state the cached part of `input_tokens` beside it, in an object of its own.
  const details = usage["input_tokens_details"] ?? usage["input_token_details"];
  if (details !== undefined) return detailedUsage(usage, details);
  // Anthropic and most recorders leave the cached part out of `input`.
  const cacheRead = number("cache_read", "cacheRead", "cache_read_input_tokens") ?? 0;
  const cacheWrite = number("cache_write", "cacheWrite", "cache_creation_input_tokens") ?? 0;
  return {
    input: input + cacheRead + cacheWrite,
    output: number("output", "output_tokens") ?? 0,
    cacheRead,
    cacheWrite,
  };
}

function openaiUsage(usage: Record<string, unknown>): Usage {
  return {
    input: firstNumber(usage, ["prompt_tokens"]) ?? 0,
    output: firstNumber(usage, ["completion_tokens"]) ?? 0,
    cacheRead: firstNumber(usage["prompt_tokens_details"], ["cached_tokens"]) ?? 0,
    cacheWrite: 0,
  };
}

function detailedUsage(usage: Record<string, unknown>, details: unknown): Usage {
  return {
    input: firstNumber(usage, ["input_tokens"]) ?? 0,
    output: firstNumber(usage, ["output_tokens"]) ?? 0,
    cacheRead: firstNumber(details, ["cached_tokens", "cache_read"]) ?? 0,
    cacheWrite: firstNumber(details, ["cache_creation"]) ?? 0,
  };
}

function geminiUsage(usage: Record<string, unknown>): Usage {
  const answer = firstNumber(usage, ["candidatesTokenCount"]) ?? 0;
  return {
    input: firstNumber(usage, ["promptTokenCount"]) ?? 0,
    output: answer + (firstNumber(usage, ["thoughtsTokenCount"]) ?? 0),
    cacheRead: firstNumber(usage, ["cachedContentTokenCount"]) ?? 0,
    cacheWrite: 0,
  };
}

function aiSdkUsage(usage: Record<string, unknown>): Usage {
  return {
    input: firstNumber(usage, ["inputTokens"]) ?? 0,
    output: firstNumber(usage, ["outputTokens"]) ?? 0,
    cacheRead:
      firstNumber(usage["inputTokenDetails"], ["cacheReadTokens"]) ?? firstNumber(usage, ["cachedInputTokens"]) ?? 0,
    cacheWrite: firstNumber(usage["inputTokenDetails"], ["cacheWriteTokens"]) ?? 0,
  };
}

/** More than any call can use: one such figure would spoil every sum it stands in. */
const MOST_TOKENS = 1e9;

function firstNumber(from: unknown, names: readonly string[]): number | null {
  if (!isRecord(from)) return null;
  for (const name of names) {
    const value = from[name];
    if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MOST_TOKENS) return value;
  }
  return null;
}

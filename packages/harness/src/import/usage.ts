/**
 * Reads the usage that providers and recorders report, in their four spellings, and makes `input` mean the whole prompt.
 * A report of zero is kept as it is: whether a number is possible is the token account's judgement.
 */
import { isRecord } from "@palimpsest/core/internal/text";
import type { ImportedUsage } from "./conversation.ts";

export function readUsage(usage: unknown): ImportedUsage | null {
  if (!isRecord(usage)) return null;
  const number = (...names: readonly string[]) => firstNumber(usage, names);
  if (number("prompt_tokens") !== null) return openaiUsage(usage);
  if (number("inputTokens") !== null) return aiSdkUsage(usage);
  const input = number("input", "input_tokens");
  if (input === null) return null;
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

function openaiUsage(usage: Record<string, unknown>): ImportedUsage {
  return {
    input: firstNumber(usage, ["prompt_tokens"]) ?? 0,
    output: firstNumber(usage, ["completion_tokens"]) ?? 0,
    cacheRead: firstNumber(usage["prompt_tokens_details"], ["cached_tokens"]) ?? 0,
    cacheWrite: 0,
  };
}

function aiSdkUsage(usage: Record<string, unknown>): ImportedUsage {
  return {
    input: firstNumber(usage, ["inputTokens"]) ?? 0,
    output: firstNumber(usage, ["outputTokens"]) ?? 0,
    cacheRead:
      firstNumber(usage["inputTokenDetails"], ["cacheReadTokens"]) ?? firstNumber(usage, ["cachedInputTokens"]) ?? 0,
    cacheWrite: firstNumber(usage["inputTokenDetails"], ["cacheWriteTokens"]) ?? 0,
  };
}

function firstNumber(from: unknown, names: readonly string[]): number | null {
  if (!isRecord(from)) return null;
  for (const name of names) {
    const value = from[name];
    if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
  }
  return null;
}

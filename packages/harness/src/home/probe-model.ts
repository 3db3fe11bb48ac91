/** Asks a model for one word, to see that address, key and name are right. */
import { generateText } from "ai";
import { modelError } from "../agent/errors.ts";
import type { Usage } from "../models/facts.ts";
import type { ResolvedModel } from "../models/resolve.ts";

interface Probed {
  readonly text: string;
  readonly ms: number;
  readonly usage: Usage;
}

/** Tried once; throws an `AgentError` that says what to do. */
export async function probeModel({ language }: ResolvedModel, signal: AbortSignal): Promise<Probed> {
  const started = performance.now();
  const { text, usage } = await generateText({
    model: language,
    prompt: "Answer with the one word: ready",
    // Room for a model that thinks first; one that answers at once uses a few.
    maxOutputTokens: 512,
    maxRetries: 0,
    abortSignal: signal,
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw modelError(error);
  });
  const { inputTokens = 0, outputTokens = 0, inputTokenDetails: cached } = usage;
  return {
    text: text.trim(),
    ms: Math.round(performance.now() - started),
    usage: {
      input: inputTokens,
      output: outputTokens,
      cacheRead: cached.cacheReadTokens ?? 0,
      cacheWrite: cached.cacheWriteTokens ?? 0,
    },
  };
}

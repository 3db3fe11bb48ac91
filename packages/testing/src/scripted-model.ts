/**
 * A language model for tests: plays a script answer by answer, or asks a function, and records every prompt. It never
 * makes anything up: a call beyond the script's end throws and says so. Time passes only by the injected `sleep`.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type CountText, charsPerToken } from "@palimpsest/core/internal/tokens";
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  PlayedAnswer,
  Playing,
} from "palimpsest/internal/played-answer";
import { answerParts, requestTokens, usageOf, wholeAnswer } from "palimpsest/internal/played-answer";

/** A string is a text answer. */
export type ScriptedStep = string | ScriptedAnswer;

export interface ScriptedAnswer extends PlayedAnswer {
  /** Thrown by the call itself, as an HTTP error would be. */
  readonly error?: unknown;
  /** After the content: the stream reports an error (`error` part), breaks (throws), or just ends without a finish. */
  readonly ends?: { readonly by: "error" | "break"; readonly error: unknown } | { readonly by: "silence" };
  /** Waited before the answer, by `sleep`. */
  readonly delayMs?: number;
  /** Instead of the count: to play wrong or missing reports. */
  readonly usage?: LanguageModelV4Usage;
}

export interface ScriptedCall {
  readonly index: number;
  readonly kind: "stream" | "generate";
  readonly prompt: LanguageModelV4Prompt;
  readonly options: LanguageModelV4CallOptions;
  /** What was reported as the request's size. */
  readonly inputTokens: number;
}

export interface ScriptedModelOptions {
  readonly provider?: string;
  readonly modelId?: string;
  /** Counts what `usage` reports; 4 characters per token when not given. */
  readonly count?: CountText;
  readonly sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

export interface ScriptedModel extends LanguageModelV4 {
  readonly calls: readonly ScriptedCall[];
  /** Steps not played yet; `Infinity` for a function. */
  readonly remaining: number;
}

export type Script = readonly ScriptedStep[] | ((call: ScriptedCall) => ScriptedStep | Promise<ScriptedStep>);

export function scriptedModel(script: Script, options: ScriptedModelOptions = {}): ScriptedModel {
  const { modelId = "scripted", count = charsPerToken(4), sleep = realSleep } = options;
  const calls: ScriptedCall[] = [];

  const next = async (kind: ScriptedCall["kind"], given: LanguageModelV4CallOptions) => {
    given.abortSignal?.throwIfAborted();
    const index = calls.length;
    const call = { index, kind, prompt: given.prompt, options: given, inputTokens: requestTokens(given, count) };
    calls.push(call);
    const step = typeof script === "function" ? await script(call) : script[index];
    if (step === undefined) throw new Error(endOfScript(index));
    const answer: ScriptedAnswer = typeof step === "string" ? { text: step } : step;
    if (answer.delayMs !== undefined) await sleep(answer.delayMs, given.abortSignal);
    given.abortSignal?.throwIfAborted();
    if (answer.error !== undefined) throw answer.error;
    const playing: Playing = {
      modelId,
      usage: answer.usage ?? usageOf(answer, call.inputTokens, count),
      callId: (at) => `call_${index}_${at}`,
      responseId: `scripted-${index}`,
    };
    return { answer, playing };
  };

  return {
    specificationVersion: "v4",
    provider: options.provider ?? "scripted",
    modelId,
    supportedUrls: {},
    calls,
    get remaining() {
      return typeof script === "function" ? Infinity : Math.max(0, script.length - calls.length);
    },
    async doGenerate(given) {
      const { answer, playing } = await next("generate", given);
      if (answer.ends?.by === "error" || answer.ends?.by === "break") throw answer.ends.error;
      return wholeAnswer(answer, playing);
    },
    async doStream(given) {
      const { answer, playing } = await next("stream", given);
      return { stream: streamOf(answerParts(answer, playing), answer.ends, given.abortSignal) };
    },
  };
}

function streamOf(
  parts: readonly LanguageModelV4StreamPart[],
  ends: ScriptedAnswer["ends"],
  signal: AbortSignal | undefined,
): ReadableStream<LanguageModelV4StreamPart> {
  const all = ends === undefined ? parts : parts.slice(0, -1);
  let at = 0;
  return new ReadableStream<LanguageModelV4StreamPart>({
    pull(controller) {
      if (signal?.aborted) return controller.error(signal.reason);
      const part = all[at++];
      if (part !== undefined) return controller.enqueue(part);
      if (ends?.by === "break") return controller.error(ends.error);
      if (ends?.by === "error") controller.enqueue({ type: "error", error: ends.error });
      controller.close();
    },
  });
}

function endOfScript(played: number): string {
  return `The script has ended: the model was called ${played + 1} times and has ${played} answers. Add a step, or look at what called it once more in \`calls\`.`;
}

async function realSleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await delay(ms, undefined, signal === undefined ? {} : { signal });
}

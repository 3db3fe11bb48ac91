/** A model that is never sent more than its window takes, for `wrapLanguageModel`: without a thread, without a store. */
import type { LanguageModelV4, LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { LanguageModelMiddleware } from "ai";
import { type FittedCall, type FittingOptions, fittingCalls } from "./fitting-calls.ts";

type Message = LanguageModelV4Prompt[number];

export type CompactionMiddlewareOptions = FittingOptions<Message>;

/** For `wrapLanguageModel({ model, middleware })`. */
export function compactionMiddleware(options: CompactionMiddlewareOptions): LanguageModelMiddleware {
  const calls = fittingCalls<Message>(options);
  const given = ({ prompt, abortSignal }: Parameters<LanguageModelV4["doGenerate"]>[0]) => ({
    messages: prompt,
    begins: prompt.find(({ role }) => role !== "system"),
    signal: abortSignal,
  });
  return {
    specificationVersion: "v4",
    async wrapGenerate({ params, model }) {
      const call = await calls.call(given(params), (prompt) => model.doGenerate({ ...params, prompt }));
      report(call, call.result.usage);
      return call.result;
    },
    async wrapStream({ params, model }) {
      const call = await calls.call(given(params), (prompt) => model.doStream({ ...params, prompt }));
      return { ...call.result, stream: reporting(call.result.stream, call) };
    },
  };
}

type WrappedUsage = Awaited<ReturnType<LanguageModelV4["doGenerate"]>>["usage"];
type CallParts = Awaited<ReturnType<LanguageModelV4["doStream"]>>["stream"];

const report = (call: FittedCall<unknown>, { inputTokens, outputTokens }: WrappedUsage): void =>
  call.report({ input: inputTokens.total, output: outputTokens.total });

function reporting(parts: CallParts, call: FittedCall<unknown>): CallParts {
  return parts.pipeThrough(
    new TransformStream({
      transform(part, controller) {
        if (part.type === "finish") report(call, part.usage);
        controller.enqueue(part);
      },
    }),
  );
}

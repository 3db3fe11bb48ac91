/**
 * A model that is never sent more than its window takes. A session is asked for its items once, when a run begins; what the run
 * itself adds is seen only here. Below the runner, so that nothing of it is stored: the session keeps every item whole.
 */
import type { AgentInputItem, Model, ModelRequest, StreamEvent } from "@openai/agents-core";
import type { ResponsesItem } from "@palimpsest/core/internal/message";
import { type FittingOptions, fittingCalls } from "palimpsest/internal/ai-sdk";
import { fromResponsesItem, toResponsesItem } from "./items.ts";
import { RULES } from "./rules.ts";

export type FittingModelOptions = Omit<FittingOptions<ResponsesItem>, "dialect" | "shape">;

/** For an agent's `model`. */
export function fittingModel(model: Model, options: FittingModelOptions): Model {
  const calls = fittingCalls<ResponsesItem>({ rules: RULES, ...options, dialect: "openai-responses" });

  /** Null: the provider has the history, and the input is what is new in it. */
  const itemsOf = ({ input, previousResponseId, conversationId }: ModelRequest): readonly AgentInputItem[] | null =>
    typeof input === "string" || previousResponseId !== undefined || conversationId !== undefined ? null : input;

  const fitted = <T>(
    items: readonly AgentInputItem[],
    request: ModelRequest,
    ask: (fitting: ModelRequest) => Promise<T>,
  ) => {
    const originals = new Map(items.map((item) => [toResponsesItem(item), item]));
    const messages = [...originals.keys()];
    const given = { messages, begins: messages[0], signal: request.signal };
    return calls.call(given, (fitting) =>
      ask({ ...request, input: fitting.map((item) => originals.get(item) ?? fromResponsesItem(item)) }),
    );
  };

  return {
    ...(model.supportsPromptModelSelection !== undefined && {
      supportsPromptModelSelection: model.supportsPromptModelSelection,
    }),
    ...(model.getRetryAdvice && { getRetryAdvice: (args) => model.getRetryAdvice!(args) }),
    async getResponse(request) {
      const items = itemsOf(request);
      if (items === null) return model.getResponse(request);
      const { result, report } = await fitted(items, request, (fitting) => model.getResponse(fitting));
      report({ input: result.usage.inputTokens, output: result.usage.outputTokens });
      return result;
    },
    async *getStreamedResponse(request) {
      const items = itemsOf(request);
      if (items === null) return yield* model.getStreamedResponse(request);
      const { result, report } = await fitted(items, request, (fitting) => begun(model.getStreamedResponse(fitting)));
      for await (const event of result) {
        if (event.type === "response_done") {
          const { usage } = event.response;
          report({ input: usage.inputTokens, output: usage.outputTokens });
        }
        yield event;
      }
    },
  };
}

/** A refusal comes with the first event; what was shown can't be asked for again. */
async function begun(events: AsyncIterable<StreamEvent>): Promise<AsyncIterable<StreamEvent>> {
  const iterator = events[Symbol.asyncIterator]();
  const first = await iterator.next();
  return (async function* rest() {
    if (first.done) return;
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => iterator };
  })();
}

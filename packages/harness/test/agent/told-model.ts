/** A model that says what a test tells it to say, when it tells it: one handle for each call. */
import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { scriptedModel } from "@palimpsest/testing";

export interface ToldCall {
  say(text: string): void;
  end(): void;
  /** The caller has given it up. */
  readonly stopped: Promise<void>;
}

export interface ToldModel extends LanguageModelV4 {
  /** The next call, once it is made. */
  next(): Promise<ToldCall>;
  readonly asked: number;
}

export function toldModel(): ToldModel {
  const made: ToldCall[] = [];
  const waiting: ((call: ToldCall) => void)[] = [];
  let asked = 0;
  return {
    ...scriptedModel([]),
    get asked() {
      return asked;
    },
    next() {
      const call = made.shift();
      return call === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(call);
    },
    async doStream({ abortSignal }) {
      asked += 1;
      const stopped = Promise.withResolvers<void>();
      let controller!: ReadableStreamDefaultController<LanguageModelV4StreamPart>;
      const stream = new ReadableStream<LanguageModelV4StreamPart>({
        start(own) {
          controller = own;
          own.enqueue({ type: "stream-start", warnings: [] });
          own.enqueue({ type: "text-start", id: "0" });
        },
      });
      abortSignal?.addEventListener("abort", () => {
        controller.error(abortSignal.reason);
        stopped.resolve();
      });
      const call: ToldCall = {
        say: (delta) => controller.enqueue({ type: "text-delta", id: "0", delta }),
        end() {
          controller.enqueue({ type: "text-end", id: "0" });
          controller.enqueue(FINISH);
          controller.close();
        },
        stopped: stopped.promise,
      };
      const taker = waiting.shift();
      if (taker === undefined) made.push(call);
      else taker(call);
      return { stream };
    },
  };
}

const FINISH: LanguageModelV4StreamPart = {
  type: "finish",
  finishReason: { unified: "stop", raw: "stop" },
  usage: {
    inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 10, text: 10, reasoning: 0 },
  },
};

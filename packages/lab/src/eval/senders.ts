/**
 * A sender makes prompts: messages are said to it, and before each answer it gives the request it would send.
 * Ours is a thread of the product in a store in memory, opened as any loop opens one; the others are rules of a few lines.
 */
import { type OpenAiMessage, openaiShape } from "@palimpsest/core/internal/message";
import { type Prices, RELATIVE_PRICES } from "@palimpsest/core/internal/pricing";
import { createMeter, type Meter } from "@palimpsest/core/internal/tokens";
import type { SummarizationOptions } from "palimpsest/home";
import { openThread } from "palimpsest/session";
import { openSqlite } from "palimpsest/stores";
import type { Policy, View } from "../replay/policy.ts";

interface SenderCall {
  readonly input: number;
  readonly cached?: number;
  readonly output: number;
}

export interface SenderRequest {
  readonly messages: readonly OpenAiMessage[];
  /** Whether the view was made smaller before it. */
  readonly compacted: boolean;
  readonly calls: readonly SenderCall[];
  /** Messages with a mark of the prompt cache at their end; null: at the end, and where the view was last changed. */
  readonly marks: readonly number[] | null;
}

export interface Sender {
  say(message: OpenAiMessage, at: number): Promise<void>;
  /** Null: it failed, nothing could be sent. */
  request(at: number, cache: "warm" | "cold"): Promise<SenderRequest | null>;
  close(): Promise<void>;
}

export interface SenderPlace {
  readonly window: number;
  readonly meter: Meter<OpenAiMessage>;
  readonly count: (text: string) => number;
  readonly systems: readonly OpenAiMessage[];
}

export interface NamedSender {
  readonly name: string;
  open(place: SenderPlace): Promise<Sender>;
}

export function ourThread(
  name = "ours",
  summarization: SummarizationOptions | false = {},
  prices: Prices = RELATIVE_PRICES,
): NamedSender {
  return {
    name,
    async open({ window, count, meter }) {
      const store = openSqlite({ path: ":memory:" });
      let now = 0;
      const opened = await openThread<OpenAiMessage>({
        store,
        id: "played",
        shape: openaiShape,
        window,
        counter: { name: "given", count, prior: 1, imageRule: "openai", frame: FRAME },
        promptCache: "marks",
        prices,
        originals: "recall",
        lease: "held",
        summarization,
        deps: { clock: () => new Date(now) },
      });
      if (opened.kind !== "open") throw new Error(`the played thread is ${opened.kind}`);
      const { thread } = opened;
      return {
        async say(message, at) {
          now = at;
          await thread.append([message]);
        },
        async request(at) {
          now = at;
          const { messages, marks, outcome } = await thread.prompt();
          await thread.report({ input: meter.messages(messages), output: 1 });
          return { messages, marks, compacted: outcome?.kind === "compacted", calls: [] };
        },
        async close() {
          await thread.close();
          await store.close();
        },
      };
    },
  };
}

const FRAME = { message: 4, call: 8, argument: 0, result: 6, inputs: "json" } as const;

export function meterOf(count: (text: string) => number): Meter<OpenAiMessage> {
  return createMeter(openaiShape, { counter: count, frame: FRAME });
}

/** A rule over the view, as the lab plays them. */
export function byPolicy(make: (window: number) => Policy, name?: string): NamedSender {
  return {
    name: name ?? make(200_000).name,
    async open({ window, meter }) {
      const policy = make(window);
      let view: View = [];
      return {
        async say(message) {
          view = [...view, { source: "message", seq: view.length + 1, message, addition: null }];
        },
        async request(_at, cache) {
          const prepared = policy.prepare(view, { meter, fixedTokens: 0, cache, prices: RELATIVE_PRICES, marks: [] });
          const compacted = prepared.view !== view;
          view = prepared.view;
          return { messages: view.map(({ message }) => message), compacted, calls: prepared.calls, marks: null };
        },
        close: async () => undefined,
      };
    },
  };
}

export const neverCompacted: NamedSender = byPolicy(
  () => ({ name: "never", prepare: (view) => ({ view, calls: [] }) }),
  "never compacted",
);

/** The newest messages within so many tokens, request by request; a call and its results stay together. */
export function truncation(tokens: readonly number[]): NamedSender {
  return {
    name: "truncation",
    async open({ meter, systems }) {
      const fixed = meter.messages(systems);
      const sizes: number[] = [];
      let view: View = [];
      let requests = 0;
      return {
        async say(message) {
          if (message.role === "system") return;
          view = [...view, { source: "message", seq: view.length + 1, message, addition: null }];
          sizes.push(meter.messages([message]));
        },
        async request() {
          let left = (tokens[requests++] ?? 0) - fixed;
          let first = view.length;
          while (first > 0 && sizes[first - 1]! <= left) left -= sizes[--first]!;
          while (first < view.length && view[first]!.message.role === "tool") first++;
          const messages = [...systems, ...view.slice(first).map(({ message }) => message)];
          return { messages, compacted: false, calls: [], marks: null };
        },
        close: async () => undefined,
      };
    },
  };
}

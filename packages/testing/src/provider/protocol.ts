/**
 * The port between the fake provider's server and the protocols it speaks: read a request, write a reply whole or as
 * events, write a failure in the provider's own form. Adapters translate; what is allowed is decided in `judge.ts`.
 */
import type { ProviderConversation } from "./conversation.ts";

export type ProtocolName = "openai-chat" | "openai-responses" | "anthropic";

export interface Protocol {
  readonly name: ProtocolName;
  readonly path: string;
  readonly overflow: OverflowStyle;
  read(body: Record<string, unknown>, headers: Headers): ReadRequest;
  whole(reply: Reply): unknown;
  events(reply: Reply): readonly ProviderEvent[];
  failure(failure: Failure): FailureBody;
  /** An error after the stream has begun. */
  streamFailure(failure: Failure): readonly ProviderEvent[];
}

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

export type ReadRequest =
  | {
      readonly kind: "request";
      readonly model: string;
      readonly stream: boolean;
      readonly conversation: ProviderConversation;
      readonly tools: readonly string[];
      readonly maxOutputTokens: number | null;
      /** Chat completions reports usage in a stream only when asked to. */
      readonly reportsUsage: boolean;
    }
  | Malformed;

export interface Malformed {
  readonly kind: "malformed";
  readonly detail: string;
  readonly param: string | null;
}

export interface Reply {
  readonly id: string;
  readonly model: string;
  readonly text: string;
  readonly reasoning: string;
  /** What the provider signs its thinking with, where it does. */
  readonly signature: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: string }[];
  readonly stop: "stop" | "tool-calls" | "length" | "window" | "content-filter";
  /** The provider's own word for the stop, when the answer names one. */
  readonly rawStop: string | null;
  readonly usage: { readonly input: number; readonly cached: number; readonly output: number };
  readonly reportsUsage: boolean;
}

/** `event: name` where the protocol names its events. */
export interface ProviderEvent {
  readonly name?: string;
  readonly data: unknown;
}

export const DONE: ProviderEvent = { data: "[DONE]" };

/** How a request over the window is refused: as a server does, or not at all but by the reason of the stop. */
export type OverflowStyle = "openai" | "vllm" | "llama.cpp" | "anthropic" | "too-large" | "in-stream" | "stop-reason";

export type Failure =
  | Malformed
  | { readonly kind: "rules"; readonly detail: string; readonly index: number }
  | {
      readonly kind: "overflow";
      readonly style: OverflowStyle;
      readonly tokens: number;
      readonly window: number;
      readonly maxOutputTokens: number | null;
    }
  | { readonly kind: "too-large" }
  | { readonly kind: "unauthorized" }
  | { readonly kind: "rate-limit"; readonly retryAfterSeconds: number | null }
  | { readonly kind: "server-error"; readonly status: number; readonly message?: string | undefined };

export interface FailureBody {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const malformed = (detail: string, param: string | null = null): Malformed => ({
  kind: "malformed",
  detail,
  param,
});

/** Text in pieces, as a model would stream it; no piece ends in half a character. */
export function pieces(text: string, size = 32): string[] {
  const points = [...text];
  const count = Math.ceil(points.length / size);
  return Array.from({ length: count }, (_, at) => points.slice(at * size, (at + 1) * size).join(""));
}

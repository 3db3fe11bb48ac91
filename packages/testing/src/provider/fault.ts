/** What can go wrong on the way: injected at chosen requests, whatever the request says. */
import type { Failure, OverflowStyle } from "./protocol.ts";

export type Fault =
  | { readonly kind: "rate-limit"; readonly retryAfterSeconds?: number }
  | { readonly kind: "server-error"; readonly status?: number; readonly message?: string }
  /** Refused as too long although it isn't; the window claimed is the request's own size less one. */
  | { readonly kind: "overflow"; readonly style?: OverflowStyle }
  | { readonly kind: "too-large" }
  | { readonly kind: "unauthorized" }
  /** The connection is dropped before a byte of the answer. */
  | { readonly kind: "drop" }
  /**
   * Nothing more is sent, and the connection stays open. Without `afterEvents` not even the headers. With `comments` a
   * stream is kept alive by lines that say nothing, as proxies do it; `onComment` is told of each.
   */
  | {
      readonly kind: "stall";
      readonly afterEvents?: number;
      readonly comments?: "on";
      readonly onComment?: () => void;
    }
  /** The connection breaks in the middle of the answer: after half of it, or after so many events of a stream. */
  | { readonly kind: "cut"; readonly afterEvents?: number }
  /** An error event in the stream; a request that doesn't stream gets the status. */
  | { readonly kind: "stream-error"; readonly afterEvents?: number; readonly status?: number };

/** The refusal a fault stands for; null for those that concern the connection. */
export function failureOf(
  fault: Fault,
  request: { readonly tokens: number; readonly style: OverflowStyle },
): Failure | null {
  switch (fault.kind) {
    case "rate-limit":
      return { kind: "rate-limit", retryAfterSeconds: fault.retryAfterSeconds ?? null };
    case "server-error":
    case "stream-error":
      return {
        kind: "server-error",
        status: fault.status ?? 500,
        ...("message" in fault && { message: fault.message }),
      };
    case "overflow": {
      const style = fault.style ?? request.style;
      return { kind: "overflow", style, tokens: request.tokens, window: request.tokens - 1, maxOutputTokens: null };
    }
    case "too-large":
    case "unauthorized":
      return fault;
    default:
      return null;
  }
}

/** The last resort without a store: a request that can't fit is shortened by rules alone, on the client's own messages. */
import type { Dialect } from "@palimpsest/core/message";
import { compactMessages } from "palimpsest/messages";
import type { Exchange } from "./exchange.ts";

/** Null: it fits as it is, or nothing can be done about it. */
export async function fittingMessages<M extends object>(exchange: Exchange<M>): Promise<readonly M[] | null> {
  const { bytes, request, target, vendor } = exchange;
  // Hardly any text has fewer than two bytes a token.
  if (bytes.length / 2 <= target.window || request.messages.length === 0) return null;
  const { system, tools, messages } = request;
  const fixed = Math.ceil((system.length + JSON.stringify(tools).length) / 4);
  const dialect = vendor.shape.dialect as Dialect;
  try {
    const { messages: fitting, outcome } = await compactMessages(messages, { window: target.window, dialect, fixed });
    return outcome.kind === "compacted" ? fitting : null;
  } catch {
    return null;
  }
}

/** The input window of a model and where the number comes from. */
import { learnedLimit } from "@palimpsest/core/internal/tokens";
import type { LearnedLimits } from "@palimpsest/core/tokens";
import { withoutCredentials } from "./address.ts";
import { knownWindow } from "./known-windows.ts";

export interface ModelWindow {
  readonly tokens: number;
  readonly source: "config" | "table" | "fallback";
}

/** What a provider stated when it refused a prompt counts, where it is less. */
export function windowNow(
  model: Parameters<typeof windowOf>[0] & { readonly base_url?: string | undefined },
  fallback: number,
  { limits, now }: { readonly limits: LearnedLimits; readonly now: number },
): { readonly tokens: number; readonly source: ModelWindow["source"] | "learned" } {
  const stated = windowOf(model, fallback);
  const address = model.base_url;
  const baseUrl = address === undefined || !URL.canParse(address) ? null : withoutCredentials(address);
  const learned = learnedLimit(limits, { baseUrl, model: model.model, now });
  return learned === null || learned >= stated.tokens ? stated : { tokens: learned, source: "learned" };
}

export function windowOf(
  model: { readonly provider: string; readonly model: string; readonly max_input_tokens?: number | undefined },
  fallback: number,
): ModelWindow {
  if (model.max_input_tokens !== undefined) return { tokens: model.max_input_tokens, source: "config" };
  const listed = model.provider === "offline" ? null : knownWindow(model.model);
  return listed === null ? { tokens: fallback, source: "fallback" } : { tokens: listed, source: "table" };
}

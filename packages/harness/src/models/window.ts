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
  model: Parameters<typeof windowOf>[0] & Addressed,
  fallback: number,
  { limits, now }: { readonly limits: LearnedLimits; readonly now: number },
): { readonly tokens: number; readonly source: ModelWindow["source"] | "learned" } {
  const stated = windowOf(model, fallback);
  const learned = learnedLimit(limits, { ...addressOfLimits(model), now });
  return learned === null || learned >= stated.tokens ? stated : { tokens: learned, source: "learned" };
}

/** What the limits of a configured model are kept by. */
export function addressOfLimits({ base_url: address, model }: Addressed) {
  const baseUrl = address === undefined || !URL.canParse(address) ? null : withoutCredentials(address);
  return { baseUrl, model };
}

interface Addressed {
  readonly model: string;
  readonly base_url?: string | undefined;
}

export function windowOf(
  model: { readonly provider: string; readonly model: string; readonly max_input_tokens?: number | undefined },
  fallback: number,
): ModelWindow {
  if (model.max_input_tokens !== undefined) return { tokens: model.max_input_tokens, source: "config" };
  const listed = model.provider === "offline" ? null : knownWindow(model.model);
  return listed === null ? { tokens: fallback, source: "fallback" } : { tokens: listed, source: "table" };
}

/** The input window of a model and where the number comes from. */
import { knownWindow } from "./known-windows.ts";

export interface ModelWindow {
  readonly tokens: number;
  readonly source: "config" | "table" | "fallback";
}

export function windowOf(
  model: { readonly provider: string; readonly model: string; readonly max_input_tokens?: number | undefined },
  fallback: number,
): ModelWindow {
  if (model.max_input_tokens !== undefined) return { tokens: model.max_input_tokens, source: "config" };
  const known = model.provider === "offline" ? null : knownWindow(model.model);
  return known === null ? { tokens: fallback, source: "fallback" } : { tokens: known, source: "table" };
}

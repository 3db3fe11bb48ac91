/** How much of a request the provider's cache held. Pure. */
export function cacheShare({ input, cacheRead }: { readonly input: number; readonly cacheRead?: unknown }): number {
  return input === 0 ? 0 : Math.min(1, Number(cacheRead ?? 0) / input);
}

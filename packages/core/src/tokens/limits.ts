/**
 * Windows learned from providers' refusals ("maximum context length is ..."). A limit belongs to one provider, address
 * and model, is forgotten after a day, and never makes a window larger than it was configured. The clock is the caller's.
 */

export interface Endpoint {
  readonly provider: string;
  readonly baseUrl: string | null;
  readonly model: string;
}

export interface LearnedLimit {
  readonly tokens: number;
  /** Milliseconds since 1970. */
  readonly learnedAt: number;
}

export type LearnedLimits = Readonly<Record<string, LearnedLimit>>;

const DAY = 24 * 60 * 60 * 1000;

/** The limits with one more; what can't be a window is not learned, and what has expired is dropped. */
export function learnLimit(limits: LearnedLimits, endpoint: Endpoint, limit: LearnedLimit): LearnedLimits {
  const fresh = Object.fromEntries(Object.entries(limits).filter(([, other]) => isFresh(other, limit.learnedAt)));
  if (!Number.isFinite(limit.tokens) || limit.tokens < 1) return fresh;
  return { ...fresh, [endpointKey(endpoint)]: { tokens: Math.floor(limit.tokens), learnedAt: limit.learnedAt } };
}

export interface EffectiveWindow {
  readonly tokens: number;
  readonly source: "configured" | "learned";
}

export function effectiveWindow(
  configured: number,
  { limits, endpoint, now }: { readonly limits: LearnedLimits; readonly endpoint: Endpoint; readonly now: number },
): EffectiveWindow {
  const limit = limits[endpointKey(endpoint)];
  if (limit === undefined || !isFresh(limit, now) || limit.tokens >= configured) {
    return { tokens: configured, source: "configured" };
  }
  return { tokens: limit.tokens, source: "learned" };
}

/** The smallest limit that the server of this model at this address has stated and that is still valid; null: none. */
export function learnedLimit(
  limits: LearnedLimits,
  { baseUrl, model, now }: Omit<Endpoint, "provider"> & { readonly now: number },
): number | null {
  const matches = endpointsWith(limits, { baseUrl, model })
    .map((key) => limits[key]!)
    .filter((limit) => isFresh(limit, now));
  return matches.length === 0 ? null : Math.min(...matches.map(({ tokens }) => tokens));
}

/** The keys of the limits of this model at this address, whichever provider's protocol it was asked by. */
export function endpointsWith(limits: LearnedLimits, { baseUrl, model }: Omit<Endpoint, "provider">): string[] {
  const end = endpointKey({ provider: "", baseUrl, model }).slice('[""'.length);
  return Object.keys(limits).filter((key) => key.endsWith(end));
}

function isFresh(limit: LearnedLimit, now: number): boolean {
  return now - limit.learnedAt < DAY;
}

/** Under which limits of an endpoint are kept. */
export function endpointKey({ provider, baseUrl, model }: Endpoint): string {
  return JSON.stringify([provider, baseUrl, model]);
}

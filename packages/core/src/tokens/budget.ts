/**
 * The window as a budget: what is reserved for the answer, whether a prompt fits, and what fills it. The parts of a
 * breakdown sum exactly to the count; the groups add what is free and reserved, and sum exactly to the window.
 */
import type { Count } from "./account.ts";

/** The model's own limit on its answer, else an eighth of a small window and 4,096 tokens of a large one. */
export function answerReserve(window: number, maxOutputTokens: number | null): number {
  return maxOutputTokens ?? Math.min(4096, Math.floor(window / 8));
}

export interface Budget {
  readonly window: number;
  readonly reserve: number;
  /** Largest request the provider takes, in bytes; null when there is no such limit. */
  readonly maxBytes?: number | null;
}

export type Fit =
  | { readonly kind: "fits"; readonly free: number }
  | { readonly kind: "too-many-tokens"; readonly by: number }
  | { readonly kind: "too-many-bytes"; readonly by: number };

/** Before the first report the counter alone speaks; this much more is assumed. */
export const UNREPORTED_MARGIN = 1.05;

/** Whether a prompt leaves room for its answer, in tokens and in bytes. */
export function fit(prompt: { readonly count: Count; readonly bytes?: number }, budget: Budget): Fit {
  const { count, bytes = 0 } = prompt;
  const tokens = count.source === "estimated" ? Math.ceil(count.tokens * UNREPORTED_MARGIN) : count.tokens;
  const free = budget.window - budget.reserve - tokens;
  if (free < 0) return { kind: "too-many-tokens", by: -free };
  const maxBytes = budget.maxBytes ?? null;
  if (maxBytes !== null && bytes > maxBytes) return { kind: "too-many-bytes", by: bytes - maxBytes };
  return { kind: "fits", free };
}

/** Bytes of a text as it goes over the wire (UTF-8; a lone surrogate is replaced by three bytes). */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x80) continue;
    bytes += code < 0x800 ? 1 : 2;
    // A pair is four bytes in all: its second half adds none of its own.
    if (code >= 0xd800 && code <= 0xdbff && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) at += 1;
  }
  return bytes;
}

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

/**
 * What a browser holds instead of a key: a cookie that no script can read, made once from the key and good for some hours.
 * It names the key by its hash, which opens nothing by itself, and is signed with the gateway's secret; each request still
 * looks the key up, so that a revoked one ends its sessions too. Nothing is stored but, by this process, which were ended.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

/** A working day and a bit. */
const SESSION_MS = 12 * 3_600_000;

/** Ended sessions that are remembered per key. Forgetting the oldest is safe: only the key itself can make more of them. */
const ENDED_AT_MOST = 10_000;

export interface NewSession {
  /** No dot in it; no two sessions have the same. */
  readonly id: string;
  /** Of the key. */
  readonly hash: string;
  /** When the key itself ends; null: never. */
  readonly expiresAt: string | null;
  /** Whether the page was reached over TLS: then the cookie goes nowhere else. */
  readonly secure: boolean;
}

export interface PageSession extends Pick<NewSession, "id" | "hash"> {
  /** Milliseconds since 1970. */
  readonly until: number;
}

export function openSession(secret: Uint8Array, { id, hash, expiresAt, secure }: NewSession, now: Date) {
  const longest = now.getTime() + SESSION_MS;
  const until = expiresAt === null ? longest : Math.min(longest, Date.parse(expiresAt));
  const text = `${hash}.${until}.${id}`;
  const age = Math.max(0, Math.floor((until - now.getTime()) / 1000));
  return { until: new Date(until), cookie: cookieText(secret, `${text}.${signature(secret, text)}`, { age, secure }) };
}

/** The cookie that takes the browser's away. */
export function endSession(secret: Uint8Array, { secure }: Pick<NewSession, "secure">): string {
  return cookieText(secret, "", { age: 0, secure });
}

/** What a request's `Cookie` stands for; null: it has none of ours, or one whose time is over. */
export function sessionOf(secret: Uint8Array, cookies: string | null, now: Date): PageSession | null {
  const name = cookieName(secret);
  const pairs = (cookies ?? "").split(";").map((pair) => pair.trim());
  const [hash = "", until = "", id = "", signed = ""] =
    pairs
      .find((pair) => pair.startsWith(`${name}=`))
      ?.slice(name.length + 1)
      .split(".") ?? [];
  const expected = Buffer.from(signature(secret, `${hash}.${until}.${id}`));
  const given = Buffer.from(signed);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  return Number(until) > now.getTime() ? { id, hash, until: Number(until) } : null;
}

/** Sessions that were signed out before they expired. Each is remembered until it would have expired. */
export class EndedSessions {
  readonly #ofKeys = new Map<string, Map<string, number>>();
  readonly #atMost: number;

  constructor(atMost = ENDED_AT_MOST) {
    this.#atMost = atMost;
  }

  add({ id, hash, until }: PageSession, now: Date): void {
    const kept = [...(this.#ofKeys.get(hash) ?? [])].filter(([one, end]) => one !== id && end > now.getTime());
    this.#ofKeys.set(hash, new Map([...kept, [id, until] as const].slice(-this.#atMost)));
  }

  has({ id, hash }: PageSession): boolean {
    return this.#ofKeys.get(hash)?.has(id) === true;
  }
}

/** Cookies don't know ports: two gateways of one machine must not take each other's. */
function cookieName(secret: Uint8Array): string {
  return `palimpsest_${createHmac("sha256", secret).update("cookie-name").digest("hex").slice(0, 12)}`;
}

function signature(secret: Uint8Array, text: string): string {
  return createHmac("sha256", secret).update(`session\0${text}`).digest("hex");
}

function cookieText(
  secret: Uint8Array,
  value: string,
  { age, secure }: { readonly age: number; readonly secure: boolean },
): string {
  const rules = ["Path=/", `Max-Age=${age}`, "HttpOnly", "SameSite=Strict", ...(secure ? ["Secure"] : [])];
  return [`${cookieName(secret)}=${value}`, ...rules].join("; ");
}

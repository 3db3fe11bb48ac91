/**
 * What a browser holds instead of a key: a cookie that no script can read, made once from the key and good for some hours.
 * It names the key by its hash, which opens nothing by itself, and is signed with the gateway's secret; each request still
 * looks the key up, so that a revoked one ends its sessions too. Nothing is stored.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

/** A working day and a bit. */
const SESSION_MS = 12 * 3_600_000;

export interface NewSession {
  /** Of the key. */
  readonly hash: string;
  /** When the key itself ends; null: never. */
  readonly expiresAt: string | null;
  /** Whether the page was reached over TLS: then the cookie goes nowhere else. */
  readonly secure: boolean;
}

export function openSession(secret: Uint8Array, { hash, expiresAt, secure }: NewSession, now: Date) {
  const longest = now.getTime() + SESSION_MS;
  const until = expiresAt === null ? longest : Math.min(longest, Date.parse(expiresAt));
  const text = `${hash}.${until}`;
  const age = Math.max(0, Math.floor((until - now.getTime()) / 1000));
  return { until: new Date(until), cookie: cookieText(secret, `${text}.${signature(secret, text)}`, { age, secure }) };
}

export function endSession(secret: Uint8Array, { secure }: Pick<NewSession, "secure">): string {
  return cookieText(secret, "", { age: 0, secure });
}

/** The hash of the key that a request's cookie stands for; null: it has none of ours, or one that is over. */
export function sessionKey(secret: Uint8Array, headers: Headers, now: Date): string | null {
  const name = cookieName(secret);
  const pairs = (headers.get("cookie") ?? "").split(";").map((pair) => pair.trim());
  const [hash = "", until = "", signed = ""] =
    pairs
      .find((pair) => pair.startsWith(`${name}=`))
      ?.slice(name.length + 1)
      .split(".") ?? [];
  const expected = Buffer.from(signature(secret, `${hash}.${until}`));
  const given = Buffer.from(signed);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  return Number(until) > now.getTime() ? hash : null;
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

/**
 * Who may come in, as one pure decision over what is known of a request. The order matters: first whether a page of
 * another site speaks through somebody's browser, then whose key it is, then as whom. Nothing here reads or waits.
 */
import { checkUser, DEFAULT_USER } from "@palimpsest/core/log";
import type { KeyRole } from "./keys.ts";

/**
 * `open`: anybody who reaches the server. `page`: the same, and a link on another site may lead there. `provider`: a
 * user, or whoever brings a provider's key where keys are forwarded; such a route spends nobody else's money.
 */
export type Access = "open" | "page" | "user" | "provider" | "admin";

export interface RequestFacts {
  readonly method: string;
  /** The server's end of the connection: whether only this machine can have made it. */
  readonly connection: "loopback" | "other";
  /** Headers, as they came. */
  readonly host: string | null;
  /** Whether `gateway.hosts` allows this host, where it lists any. */
  readonly hostAllowed: boolean;
  readonly origin: string | null;
  readonly fetchSite: string | null;
  readonly fetchMode: string | null;
  readonly contentType: string | null;
  /** Whether it has a header `X-Palimpsest-*`, which a page of another site can't send unasked. */
  readonly marked: boolean;
  /** `X-Palimpsest-User`. */
  readonly namedUser: string | null;
  readonly access: Access;
}

/** What the store says of the keys that came with it. */
export interface KeyFacts {
  /** Whether any key was ever made: from then on nobody comes in without one. */
  readonly exist: boolean;
  readonly presented: "none" | "several" | "unknown" | PresentedKey;
  /** The user that a forwarded provider's key stands for; null where none came with it, or none are forwarded. */
  readonly providerUser: string | null;
  /** A browser sends a cookie whoever made the page: it proves nothing about who asks. Without this a header brought it. */
  readonly carriedBy?: "cookie";
}

export interface PresentedKey {
  readonly id: string;
  readonly userId: string;
  readonly role: KeyRole;
  readonly state: "valid" | "expired" | "revoked";
}

export interface Caller {
  /** As whom: everything of another user is not there. */
  readonly userId: string;
  readonly role: KeyRole;
  /** Null: the person at this machine, where there are no keys. */
  readonly key: string | null;
  /** Set where the key's own user is another one. */
  readonly actsFor?: "another";
}

export type Verdict = { readonly kind: "admitted"; readonly caller: Caller | null } | Refusal;

interface Refusal {
  readonly kind: "refused";
  readonly status: 400 | 401 | 403 | 415;
  readonly code: string;
  readonly message: string;
}

export function admit(facts: RequestFacts, keys: KeyFacts): Verdict {
  return foreignSite(facts, keys) ?? unguardedWrite(facts, keys) ?? recognized(facts, keys);
}

/** A page on another site, or one that made its name point here (DNS rebinding). */
function foreignSite(facts: RequestFacts, { exist }: KeyFacts): Refusal | null {
  const { host, hostAllowed, origin, fetchSite, fetchMode, access } = facts;
  if (!exist && !isLoopbackHost(host))
    return refused(403, "foreign-host", `this gateway has no keys, so it is only reached as ${LOOPBACK_NAMES}`);
  if (!hostAllowed)
    return refused(403, "foreign-host", "this gateway isn't reached under this name: see gateway.hosts");
  if (origin !== null && hostOf(origin) !== host?.toLowerCase())
    return refused(403, "foreign-origin", "pages of another site may not use this gateway");
  const isLink = access === "page" && fetchMode === "navigate";
  if ((fetchSite === "cross-site" || fetchSite === "same-site") && !isLink)
    return refused(403, "cross-site", "pages of another site may not use this gateway");
  return null;
}

/** What a form on another site could send: forms know three content types and no headers of their own. */
function unguardedWrite({ method, contentType, marked, access }: RequestFacts, keys: KeyFacts): Refusal | null {
  if (method === "GET" || method === "HEAD" || marked) return null;
  const isOwnKey = keys.presented !== "none" && keys.carriedBy !== "cookie";
  // Vendors' clients send recordings and pictures as forms.
  const mayBeForm = contentType === null || (access === "provider" && /^multipart\/form-data\b/i.test(contentType));
  if ((mayBeForm && isOwnKey) || (contentType !== null && noFormSends(contentType))) return null;
  return refused(
    415,
    "not-json",
    "a request that changes something needs a JSON body, if only an empty one: -H 'content-type: application/json' -d '{}'; " +
      "or a header X-Palimpsest-User",
  );
}

function recognized(facts: RequestFacts, { exist, presented, providerUser }: KeyFacts): Verdict {
  if (facts.access === "open" || facts.access === "page") return { kind: "admitted", caller: null };
  if (!exist) {
    if (facts.connection !== "loopback") return refused(401, "no-key", NO_KEY);
    return named({ userId: DEFAULT_USER, role: "admin", key: null }, facts);
  }
  if ((presented === "none" || presented === "unknown") && facts.access === "provider" && providerUser !== null)
    return named({ userId: providerUser, role: "user", key: providerUser }, facts);
  if (presented === "none") return refused(401, "no-key", NO_KEY);
  if (presented === "several") return refused(401, "bad-key", "two different keys came with one request: send one");
  if (presented === "unknown" || presented.state !== "valid")
    return refused(401, "bad-key", "this key is not known, or no longer valid");
  const { id, userId, role } = presented;
  if (facts.access === "admin" && role !== "admin")
    return refused(403, "admin-only", "this needs a key with the role admin");
  return named({ userId, role, key: id }, facts);
}

/** Naming another is refused, never ignored: an answer about oneself would be taken for the other's. */
function named(caller: Caller, { namedUser }: RequestFacts): Verdict {
  if (namedUser === null) return { kind: "admitted", caller };
  const checked = checkUser(namedUser);
  if (checked.kind === "invalid") return refused(400, "bad-user", `X-Palimpsest-User: ${checked.problem}`);
  return mayAct(caller, namedUser)
    ? {
        kind: "admitted",
        caller: { ...caller, userId: namedUser, ...(namedUser !== caller.userId && { actsFor: "another" }) },
      }
    : refused(403, "not-your-user", "this key may not act for another user: that takes the role delegate or admin");
}

/** Who runs the server, and asks for themselves: nothing of it has to be hidden from them. */
export function isOperator({ role, actsFor }: Caller): boolean {
  return role === "admin" && actsFor === undefined;
}

/** Known by a provider's key alone. */
export function isProviderUser({ userId, key }: Caller): boolean {
  return key === userId;
}

/** Where there are no keys, everything is the person's own: nobody else is there to be named. */
export function mayAct({ userId, role, key }: Caller, other: string): boolean {
  return other === userId || (key !== null && role !== "user");
}

/** Names of this machine that no other machine can be reached by. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  return name === "localhost" || name === "::1" || /^127(?:\.\d{1,3}){3}$/.test(name);
}

/** `hosts`: names with or without a port; null: any. This machine's own names are always allowed. */
export function isHostAllowed(host: string | null, hosts: readonly string[] | null): boolean {
  if (hosts === null || isLoopbackHost(host)) return true;
  const name = host?.toLowerCase();
  return hosts.some((one) => one.toLowerCase() === name || one.toLowerCase() === name?.replace(/:\d{1,5}$/, ""));
}

function isLoopbackHost(host: string | null): boolean {
  return host !== null && isLoopback(host.replace(/:\d{1,5}$/, ""));
}

/** `http://a:1` as `a:1`; an origin that is none (`null`, a file) is nobody's. */
function hostOf(origin: string): string | null {
  return /^https?:\/\/([^/?#@]+)$/i.exec(origin)?.[1]?.toLowerCase() ?? null;
}

/** JSON, and a zip archive: types that a page of another site can't send without asking first. */
function noFormSends(contentType: string): boolean {
  const type = contentType.split(";", 1)[0]!.trim().toLowerCase();
  return type === "application/zip" || /^application\/(?:[a-z0-9.-]+\+)?(?:json|jsonl|x-ndjson)$/.test(type);
}

const LOOPBACK_NAMES = "localhost, 127.0.0.1 or [::1]";
const NO_KEY = 'this gateway needs a key: "Authorization: Bearer pal_...", made by "palimpsest keys create"';

function refused(status: Refusal["status"], code: string, message: string): Refusal {
  return { kind: "refused", status, code, message };
}

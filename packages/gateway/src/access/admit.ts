/**
 * Who may come in, as one pure decision over what is known of a request. The order matters: first whether a page of
 * another site sent it through a user's browser, then whose key it is, then which user it names. Nothing here reads or waits.
 */

import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { checkUser, DEFAULT_USER } from "@palimpsest/core/internal/log";
import { errorCode } from "@palimpsest/core/internal/text";
import { hashKey, KEY_PREFIX } from "palimpsest/internal/key-operations";
import type { KeyRow, KeyRows } from "palimpsest/stores";

/**
 * `open`: no key is needed. `page`: the same, and a link on another site may lead there. `provider`: a user, or a caller
 * with a provider's key if keys are forwarded; such a route spends only that key's money.
 */
export type Access = "open" | "page" | "user" | "provider" | "admin";

export interface RequestFacts {
  readonly method: string;
  /** The server's end of the connection: whether only this machine can have made it. */
  readonly connection: "loopback" | "other";
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
  /** Whether a key was ever made. From then on a key is required. */
  readonly exist: boolean;
  readonly presented: "none" | "several" | "unknown" | PresentedKey;
  /** The user that a forwarded provider's key stands for; null where none came with it, or none are forwarded. */
  readonly providerUser: string | null;
  /** True if the key came as a cookie. A browser sends cookies for pages of any origin, so a cookie alone proves nothing. */
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

export type AdmissionVerdict = { readonly kind: "admitted"; readonly caller: Caller | null } | AdmissionRefusal;

interface AdmissionRefusal {
  readonly kind: "refused";
  readonly status: 400 | 401 | 403 | 415;
  readonly code: string;
  readonly message: string;
}

export function admit(facts: RequestFacts, keys: KeyFacts): AdmissionVerdict {
  return foreignSite(facts, keys) ?? unguardedWrite(facts, keys) ?? recognized(facts, keys);
}

/** A page on another site, or one that made its name point here (DNS rebinding). */
function foreignSite(facts: RequestFacts, { exist }: KeyFacts): AdmissionRefusal | null {
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
function unguardedWrite(
  { method, contentType, marked, access }: RequestFacts,
  keys: KeyFacts,
): AdmissionRefusal | null {
  if (method === "GET" || method === "HEAD" || marked) return null;
  const isOwnKey = keys.presented !== "none" && keys.carriedBy !== "cookie";
  // Vendors' clients send recordings and pictures as forms.
  const mayBeForm = contentType === null || (access === "provider" && /^multipart\/form-data\b/i.test(contentType));
  if ((mayBeForm && isOwnKey) || (contentType !== null && noFormSends(contentType))) return null;
  const said = contentType === null ? "the request doesn't say what its body is" : "the body isn't said to be JSON";
  return refused(
    415,
    "not-json",
    `${said}: a change needs the header "content-type: application/json" and a JSON body, if only {}; ` +
      "with curl -H 'content-type: application/json' -d '{}'; or a header X-Palimpsest-User",
  );
}

function recognized(facts: RequestFacts, { exist, presented, providerUser }: KeyFacts): AdmissionVerdict {
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
function named(caller: Caller, { namedUser }: RequestFacts): AdmissionVerdict {
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

/** Without keys there is one user, and every request is theirs. */
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

/** `http://a:1` as `a:1`; null for an origin without a host (`null`, a file). */
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

function refused(status: AdmissionRefusal["status"], code: string, message: string): AdmissionRefusal {
  return { kind: "refused", status, code, message };
}

/* What the store says of the key that came with a request. */

type KeyRole = KeyRow["role"];

/** One that holds now; null: there is no such key. */
export async function findKey(keys: KeyRows, key: string, now: Date): Promise<KeyRow | null> {
  const row = isOurs(key) ? await keys.find(hashKey(key)) : undefined;
  return row !== undefined && presented(row, now).state === "valid" ? row : null;
}

/**
 * Of the key in `Authorization: Bearer` or `x-api-key`, else of the one that a page's session stands for. A client may send
 * a provider's own beside ours.
 */
export async function keyFacts(
  keys: KeyRows | undefined,
  headers: Headers,
  { now, providerUser = null, session = null }: KeyOptions,
): Promise<KeyFacts> {
  const unknown = { presented: anyKey(headers), providerUser: null };
  if (keys === undefined) return { exist: false, ...unknown };
  if (session !== null && credentials(headers).length === 0) {
    const row = await keys.find(session);
    if (row !== undefined)
      return { exist: true, presented: presented(row, now), providerUser: null, carriedBy: "cookie" };
  }
  const [key, another] = presentedKeys(headers);
  const row = key === undefined || another !== undefined ? undefined : await keys.find(hashKey(key));
  // One that is known says by itself that there are some.
  if (row !== undefined) return { exist: true, presented: presented(row, now), providerUser: null };
  if (!(await keys.any())) return { exist: false, ...unknown };
  // Only who sent no key of ours at all is known by another's: a wrong one stays wrong.
  if (key === undefined) return { exist: true, presented: anyKey(headers), providerUser };
  return { exist: true, presented: another === undefined ? "unknown" : "several", providerUser: null };
}

interface KeyOptions {
  readonly now: Date;
  readonly providerUser?: string | null;
  /** The hash of the key that a session stands for. */
  readonly session?: string | null;
}

function presented({ id, user, role, expiresAt, revokedAt }: KeyRow, now: Date): PresentedKey {
  const expired = expiresAt !== null && expiresAt <= now.toISOString();
  return { id, userId: user, role, state: revokedAt !== null ? "revoked" : expired ? "expired" : "valid" };
}

function presentedKeys(headers: Headers): string[] {
  return [...new Set(credentials(headers).filter(isOurs))];
}

function isOurs(key: string): boolean {
  return key.startsWith(KEY_PREFIX);
}

function anyKey(headers: Headers): "none" | "unknown" {
  return credentials(headers).length === 0 ? "none" : "unknown";
}

/** The values of `Authorization: Bearer` and `x-api-key`, ours or a provider's. */
export function credentials(headers: Headers): string[] {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  return [bearer, headers.get("x-api-key")].filter((text) => text != null).filter((text) => text !== "");
}

/*
 * A provider's key that came with a request: in `X-Provider-Key`, or as the client's own credential where
 * `gateway.forward_keys` is on. It is used for the request and for nothing else: never stored, logged or shown. Who has
 * no key of ours is known by an HMAC of it, so that the store never holds what could be tried out against a provider.
 */

export function providerKeyOf(headers: Headers, { forward }: { readonly forward: boolean }): string | null {
  const given = headers.get("x-provider-key");
  if (given !== null && given !== "") return given;
  return forward ? (credentials(headers).find((text) => !isOurs(text)) ?? null) : null;
}

/** The same key is the same user on every gateway that has the secret. */
export function providerUser(secret: Uint8Array, key: string): string {
  return `provider-${createHmac("sha256", secret).update(`provider-key\0${key}`).digest("hex").slice(0, 40)}`;
}

/**
 * The gateway's own secret: `PALIMPSEST_SECRET`, which gateways that share a store must share too, else a file of the
 * home that is made when it is first needed and that only its owner may read.
 */
export async function gatewaySecret(
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Uint8Array> {
  const given = env["PALIMPSEST_SECRET"];
  if (given !== undefined && given !== "") return Buffer.from(given);
  const path = join(directory, "gateway-secret");
  const known = await readFile(path, "utf8").catch(() => null);
  if (known === null) await makeSecret(directory, path);
  const text = await readFile(path, "utf8");
  if (text.length < 32) throw new Error(`${path} holds no secret: remove it, and another one is made`);
  return Buffer.from(text);
}

/** Whole or not at all: of several that start at once, one makes it and all read it. */
async function makeSecret(directory: string, path: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomUUID()}`;
  await writeFile(temporary, randomBytes(32).toString("hex"), { mode: 0o600, flag: "wx" });
  try {
    await link(temporary, path);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

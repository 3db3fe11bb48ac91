/**
 * Keys: how one is made, and what the store says of the one that came with a request. A key is 32 random bytes, so its
 * SHA-256 can be looked up as it is: nobody can guess towards it.
 */
import { createHash, randomBytes } from "node:crypto";
import type { KeyRow, KeyRows } from "palimpsest/stores";
import type { KeyFacts, PresentedKey } from "./admit.ts";

export type KeyRole = KeyRow["role"];

export const KEY_ROLES = ["user", "delegate", "admin"] as const satisfies readonly KeyRole[];

export interface NewKey {
  readonly user: string;
  readonly role: KeyRole;
  readonly expiresAt: Date | null;
}

/** The key itself is in the answer once and nowhere else. */
export interface CreatedKey {
  readonly key: string;
  readonly id: string;
  readonly user: string;
  readonly role: KeyRole;
  readonly expiresAt: string | null;
}

export async function createKey(keys: KeyRows, { user, role, expiresAt }: NewKey, now: Date): Promise<CreatedKey> {
  const key = `${PREFIX}${randomBytes(32).toString("base64url")}`;
  const id = `key_${randomBytes(8).toString("hex")}`;
  const expires = expiresAt?.toISOString() ?? null;
  const made = await keys.put({
    id,
    hash: hashOf(key),
    prefix: key.slice(0, 8),
    user,
    role,
    createdAt: now.toISOString(),
    expiresAt: expires,
    revokedAt: null,
  });
  if (made === "exists") throw new Error("a new random key was there already");
  return { key, id, user, role, expiresAt: expires };
}

/** What may be shown of a key. */
export type ListedKey = Omit<KeyRow, "hash">;

export async function listKeys(keys: KeyRows): Promise<readonly ListedKey[]> {
  const rows: KeyRow[] = [];
  for (let page = await keys.list(); page.length > 0; page = await keys.list(page.at(-1)!.id)) rows.push(...page);
  return rows
    .toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.id < b.id ? -1 : 1))
    .map(({ hash: _, ...shown }) => shown);
}

/** A number of days, hours or minutes (`90d`, `12h`, `30m`) from now; null: it is none of these. */
export function expiryOf(text: string, now: Date): Date | null {
  const match = /^([1-9]\d{0,5})([dhm])$/.exec(text);
  if (match === null) return null;
  return new Date(now.getTime() + Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]);
}

const UNIT_MS = { d: 86_400_000, h: 3_600_000, m: 60_000 } as const;
const PREFIX = "pal_";

/** One that holds now; null: there is no such key. */
export async function findKey(keys: KeyRows, key: string, now: Date): Promise<KeyRow | null> {
  const row = isOurs(key) ? await keys.find(hashOf(key)) : undefined;
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
  const nobodys = { presented: anyKey(headers), providerUser: null };
  if (keys === undefined) return { exist: false, ...nobodys };
  if (session !== null && credentials(headers).length === 0) {
    const row = await keys.find(session);
    if (row !== undefined)
      return { exist: true, presented: presented(row, now), providerUser: null, carriedBy: "cookie" };
  }
  const [key, another] = presentedKeys(headers);
  const row = key === undefined || another !== undefined ? undefined : await keys.find(hashOf(key));
  // One that is known says by itself that there are some.
  if (row !== undefined) return { exist: true, presented: presented(row, now), providerUser: null };
  if (!(await keys.any())) return { exist: false, ...nobodys };
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

export function isOurs(key: string): boolean {
  return key.startsWith(PREFIX);
}

function anyKey(headers: Headers): "none" | "unknown" {
  return credentials(headers).length === 0 ? "none" : "unknown";
}

/** What came as `Authorization: Bearer` and `x-api-key`, whoever's keys they are. */
export function credentials(headers: Headers): string[] {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  return [bearer, headers.get("x-api-key")].filter((text) => text != null && text !== "") as string[];
}

function hashOf(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

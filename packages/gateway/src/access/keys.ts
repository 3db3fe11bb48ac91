/** What the store says of the key that came with a request. */
import { hashKey, KEY_PREFIX } from "palimpsest/internal/key-operations";
import type { KeyRow, KeyRows } from "palimpsest/stores";
import type { KeyFacts, PresentedKey } from "./admit.ts";

export type KeyRole = KeyRow["role"];

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
  const nobodys = { presented: anyKey(headers), providerUser: null };
  if (keys === undefined) return { exist: false, ...nobodys };
  if (session !== null && credentials(headers).length === 0) {
    const row = await keys.find(session);
    if (row !== undefined)
      return { exist: true, presented: presented(row, now), providerUser: null, carriedBy: "cookie" };
  }
  const [key, another] = presentedKeys(headers);
  const row = key === undefined || another !== undefined ? undefined : await keys.find(hashKey(key));
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
  return key.startsWith(KEY_PREFIX);
}

function anyKey(headers: Headers): "none" | "unknown" {
  return credentials(headers).length === 0 ? "none" : "unknown";
}

/** What came as `Authorization: Bearer` and `x-api-key`, whoever's keys they are. */
export function credentials(headers: Headers): string[] {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  return [bearer, headers.get("x-api-key")].filter((text) => text != null && text !== "") as string[];
}

/**
 * Keys to the gateway: made, listed, ended. A key is in the answer that makes it, and in no other. It is 32 random bytes, so
 * its SHA-256 can be looked up as it is: it can't be guessed.
 */
import { createHash, randomBytes } from "node:crypto";
import { checkUser } from "@palimpsest/core/internal/log";
import { z } from "zod";
import type { KeyRow, KeyRows, Store } from "../stores/store.ts";
import { invalid, list, OperationError, operation } from "./operation.ts";

export const KEY_ROLES = ["user", "delegate", "admin"] as const satisfies readonly KeyRow["role"][];
export const KEY_PREFIX = "pal_";

const role = z.enum(KEY_ROLES);
const expiresAt = z.string().nullable();

export const listAll = operation({
  name: "keys",
  summary: "All keys, without the keys themselves",
  method: "GET",
  path: "/api/keys",
  access: "admin",
  input: z.strictObject({}),
  output: z.strictObject({
    keys: list(
      z.strictObject({
        id: z.string(),
        prefix: z.string(),
        user: z.string(),
        role,
        createdAt: z.string(),
        expiresAt,
        revokedAt: z.string().nullable(),
      }),
    ),
  }),
  run: async ({ store }) => ({ keys: await listKeys(keysOf(store)) }),
});

export const create = operation({
  name: "keys-create",
  summary: "Make a key",
  method: "POST",
  path: "/api/keys",
  access: "admin",
  status: 201,
  input: z.strictObject({
    user: z.string(),
    role: role.optional(),
    expires: z.string().optional().describe("A time from now: 90d, 12h, 30m; without it never."),
  }),
  output: z.strictObject({ key: z.string(), id: z.string(), user: z.string(), role, expiresAt }),
  async run({ store, clock }, { user, role: as = "user", expires }, { note }) {
    const now = clock();
    const checked = checkUser(user);
    if (checked.kind === "invalid") throw invalid("user", checked.problem);
    const ends = expires === undefined ? null : expiryOf(expires, now);
    if (expires !== undefined && ends === null)
      throw invalid("expires", "must be a time from now such as 90d, 12h or 30m");
    const keys = keysOf(store);
    const isFirst = !(await keys.any());
    const key = await createKey(keys, { user, role: as, expiresAt: ends }, now);
    if (isFirst)
      note?.(
        "It is the first key: from now on the gateway of this home wants a key from everybody, the page and this machine included.",
      );
    return key;
  },
});

export const revoke = operation({
  name: "keys-revoke",
  summary: "End a key for good, by its id; it stays listed",
  method: "DELETE",
  path: "/api/keys/{key}",
  access: "admin",
  input: z.strictObject({ key: z.string() }),
  output: z.strictObject({ id: z.string(), revoked: z.literal(true) }),
  async run({ store, clock }, { key: id }) {
    const result = await keysOf(store).revoke(id, clock().toISOString());
    if (result === "missing")
      throw new OperationError("missing", `there is no key ${JSON.stringify(id.slice(0, 140))}`);
    return { id, revoked: true as const };
  },
});

function keysOf({ keys }: Store): KeyRows {
  if (keys === undefined) throw new OperationError("unsupported", "this store keeps no keys: use SQLite or PostgreSQL");
  return keys;
}

interface NewKey extends Pick<KeyRow, "user" | "role"> {
  readonly expiresAt: Date | null;
}

/** The key itself is in the answer once and nowhere else. */
interface CreatedKey extends Pick<KeyRow, "id" | "user" | "role" | "expiresAt"> {
  readonly key: string;
}

export async function createKey(
  keys: KeyRows,
  { user, role: as, expiresAt: ends }: NewKey,
  now: Date,
): Promise<CreatedKey> {
  const key = `${KEY_PREFIX}${randomBytes(32).toString("base64url")}`;
  const id = `key_${randomBytes(8).toString("hex")}`;
  const expires = ends?.toISOString() ?? null;
  const made = await keys.put({
    id,
    hash: hashKey(key),
    prefix: key.slice(0, 8),
    user,
    role: as,
    createdAt: now.toISOString(),
    expiresAt: expires,
    revokedAt: null,
  });
  if (made === "exists") throw new Error("a new random key was there already");
  return { key, id, user, role: as, expiresAt: expires };
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

export function hashKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

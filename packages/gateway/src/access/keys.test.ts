import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { createKey, expiryOf, listKeys } from "palimpsest/internal/key-operations";
import { openSqlite } from "palimpsest/stores";
import { keyFacts } from "./admit.ts";

const now = new Date("2026-01-01T00:00:00Z");
const later = new Date("2026-06-01T00:00:00Z");

test("a key is 32 random bytes that only its owner has: the store keeps its hash and eight characters", async (t) => {
  const { keys, close } = openSqlite({ path: ":memory:" });
  t.after(close);
  const made = await createKey(keys, { user: "ada", role: "user", expiresAt: null }, now);
  assert.match(made.key, /^pal_[\w-]{43}$/);
  const [row] = await keys.list();
  assert.equal(row!.hash, createHash("sha256").update(made.key).digest("hex"));
  assert.equal(row!.prefix, made.key.slice(0, 8));
  assert.doesNotMatch(JSON.stringify(row), new RegExp(made.key.slice(8)));
  assert.doesNotMatch(JSON.stringify(await listKeys(keys)), new RegExp(row!.hash));
});

test("either header brings a key, a provider's beside it is passed over, and two of ours are one too many", async (t) => {
  const { keys, close } = openSqlite({ path: ":memory:" });
  t.after(close);
  const facts = async (headers: Record<string, string>, at = now) =>
    (await keyFacts(keys, new Headers(headers), { now: at })).presented;
  assert.deepEqual(await keyFacts(keys, new Headers(), { now }), {
    exist: false,
    presented: "none",
    providerUser: null,
  });
  const ada = await createKey(keys, { user: "ada", role: "user", expiresAt: expiryOf("90d", now) }, now);
  const bob = await createKey(keys, { user: "bob", role: "admin", expiresAt: null }, now);
  const own = { id: ada.id, userId: "ada", role: "user", state: "valid" };
  assert.deepEqual(await facts({ authorization: `Bearer ${ada.key}` }), own);
  assert.deepEqual(await facts({ authorization: `bearer ${ada.key}`, "x-api-key": ada.key }), own);
  assert.deepEqual(await facts({ "x-api-key": ada.key, authorization: "Bearer sk-provider" }), own);
  assert.equal(await facts({ "x-api-key": ada.key, authorization: `Bearer ${bob.key}` }), "several");
  assert.equal(await facts({ authorization: `Bearer ${ada.key}x` }), "unknown");
  assert.equal(await facts({ authorization: "Bearer sk-provider" }), "unknown");
  assert.equal(await facts({ authorization: `Basic ${ada.key}` }), "none");
  assert.deepEqual(await facts({ "x-api-key": ada.key }, later), { ...own, state: "expired" });
  await keys.revoke(bob.id, now.toISOString());
  assert.equal(((await facts({ "x-api-key": bob.key })) as { state: string }).state, "revoked");
  const forwarded = async (key: string) =>
    (await keyFacts(keys, new Headers({ "x-api-key": key }), { now, providerUser: "provider-1" })).providerUser;
  assert.deepEqual([await forwarded("sk-provider"), await forwarded("pal_wrong")], ["provider-1", null]);
});

test("keys that no longer hold are still keys: every request needs one", async (t) => {
  const { keys, close } = openSqlite({ path: ":memory:" });
  t.after(close);
  const { id } = await createKey(keys, { user: "ada", role: "user", expiresAt: null }, now);
  await keys.revoke(id, now.toISOString());
  assert.equal((await keyFacts(keys, new Headers(), { now })).exist, true);
});

test("an expiry is a number of days, hours or minutes", () => {
  assert.deepEqual(
    ["90d", "12h", "30m", "0d", "1.5d", "d", "90", "-1d", "9999999d"].map(
      (text) => expiryOf(text, now)?.toISOString().slice(0, 16) ?? null,
    ),
    ["2026-04-01T00:00", "2026-01-01T12:00", "2026-01-01T00:30", null, null, null, null, null, null],
  );
});

/** Keys to a gateway: found by their hash, listed with what became of them. */
import assert from "node:assert/strict";
import type { KeyRow } from "palimpsest/stores";
import { type CasesWith, freshId } from "./kit.ts";

function made(): KeyRow {
  const id = freshId();
  return {
    id,
    hash: `hash of ${id}`,
    prefix: "pal_abcd",
    user: "Ümlaut 😀",
    role: "delegate",
    createdAt: "2026-01-01T00:00:00.000Z",
    expiresAt: null,
    revokedAt: null,
  };
}

export const keyCases: CasesWith<"keys"> = {
  "a key is found by its hash, by another connection and whoever asks": async (suite) => {
    const key = { ...made(), expiresAt: "2026-04-01T00:00:00.000Z" };
    assert.equal(await suite.store().keys.put(key), "put");
    const other = await suite.connect();
    assert.deepEqual(await other.keys.find(key.hash), key);
    assert.deepEqual(await other.forUser("somebody").keys!.find(key.hash), key);
    assert.equal(await other.keys.find(key.id), undefined);
    assert.equal(await other.keys.any(), true);
    await other.close();
  },

  "neither an id nor a hash is given twice": async (suite) => {
    const { keys } = suite.store();
    const key = made();
    assert.deepEqual([await keys.put(key), await keys.put({ ...key, hash: "another" })], ["put", "exists"]);
    assert.equal(await keys.put({ ...key, id: freshId() }), "exists");
    assert.deepEqual(await keys.find(key.hash), key);
  },

  "a revoked key stays listed with the time it was first revoked at": async (suite) => {
    const { keys } = suite.store();
    const key = made();
    await keys.put(key);
    const [first, second] = ["2026-02-01T00:00:00.000Z", "2026-03-01T00:00:00.000Z"] as const;
    assert.deepEqual([await keys.revoke(key.id, first), await keys.revoke(key.id, second)], ["revoked", "revoked"]);
    assert.equal(await keys.revoke("nobody", first), "missing");
    const listed: KeyRow[] = [];
    for (let page = await keys.list(); page.length > 0; page = await keys.list(page.at(-1)!.id)) listed.push(...page);
    assert.deepEqual(
      listed.filter(({ id }) => id === key.id),
      [{ ...key, revokedAt: first }],
    );
    assert.deepEqual(
      listed.map(({ id }) => id),
      listed.map(({ id }) => id).toSorted(),
    );
  },
};

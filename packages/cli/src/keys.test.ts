import assert from "node:assert/strict";
import { test } from "node:test";
import { desk } from "../test/binary.ts";

interface Listed {
  readonly id: string;
  readonly user: string;
  readonly role: string;
  readonly prefix: string;
  readonly revokedAt: string | null;
}

test("a key is made for a user and shown once, listed without itself, and revoked", async (t) => {
  const at = desk(t);
  assert.deepEqual((await at.json("keys", "list")).document, { keys: [] });
  const { document: made } = await at.json("keys", "create", "--user", "ada", "--role", "admin", "--expires", "90d");
  assert.match(String(made["key"]), /^pal_[\w-]{43}$/);
  assert.deepEqual(Object.keys(made), ["key", "id", "user", "role", "expiresAt"]);
  assert.deepEqual([made["user"], made["role"]], ["ada", "admin"]);
  const { stdout } = await at.run("keys", "list", "--json");
  assert.doesNotMatch(stdout, new RegExp(String(made["key"]).slice(8)));
  const [listed] = (JSON.parse(stdout) as { keys: Listed[] }).keys;
  assert.deepEqual([listed!.id, listed!.user, listed!.role], [made["id"], "ada", "admin"]);
  assert.equal((await at.json("keys", "revoke", listed!.id)).code, 0);
  const [revoked] = (await at.json("keys", "list")).document["keys"] as Listed[];
  assert.notEqual(revoked!.revokedAt, null);
});

test("a new key says whose threads it opens, and the first one that the gateway now wants one with every request", async (t) => {
  const at = desk(t);
  const first = await at.run("keys", "create");
  assert.match(first.stderr, /opens the threads of the user "default" \(--user names another\), as a user\./);
  assert.match(first.stderr, /from now on the gateway of this home wants a key from everybody/);
  const second = await at.run("keys", "create", "--user", "ada", "--role", "admin");
  assert.match(second.stderr, /opens the threads of the user "ada", as an admin\./);
  assert.doesNotMatch(second.stderr, /from now on/);
});

test("a role or an expiry that can't be meant, and a key that isn't there, are named", async (t) => {
  const at = desk(t);
  for (const [args, message] of [
    [["create", "--role", "king"], /one of user, delegate, admin/],
    [["create", "--expires", "soon"], /such as 90d/],
    [["revoke", "nobody"], /no key "nobody"/],
  ] as const) {
    const { code, stderr } = await at.run("keys", ...args);
    assert.notEqual(code, 0);
    assert.match(stderr, message);
  }
});

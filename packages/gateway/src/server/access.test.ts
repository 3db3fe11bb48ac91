// Who comes in, on the real server: keys of every kind, made and revoked while it runs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createKey } from "palimpsest/internal/key-operations";
import { codeOf, running, sent } from "../../test/running.ts";

test("from the first key on every request needs one, and a revoked key is refused", async (t) => {
  const at = await running(t);
  const ask = async (headers: Record<string, string> = {}) => {
    const answer = await sent(at, "/nowhere", { headers });
    return `${answer.status} ${codeOf(answer)}`;
  };
  assert.equal(await ask(), "404 no-route");
  const { keys } = at.home.store;
  const { key, id } = await createKey(keys!, { user: "ada", role: "user", expiresAt: null }, new Date());
  assert.equal(await ask(), "401 no-key");
  assert.equal(await ask({ authorization: "Bearer pal_wrong" }), "401 bad-key");
  assert.equal(await ask({ authorization: `Bearer ${key}` }), "404 no-route");
  assert.equal(await ask({ "x-api-key": key }), "404 no-route");
  assert.equal(await ask({ "x-api-key": key, "x-palimpsest-user": "bob" }), "403 not-your-user");
  assert.deepEqual([at.lines.at(-1)!.user, at.lines.at(-2)!.user, at.lines.at(-2)!.key], [null, "ada", id]);
  await keys!.revoke(id, new Date().toISOString());
  assert.equal(await ask({ "x-api-key": key }), "401 bad-key");
  const refused = await sent(at, "/nowhere");
  assert.equal(refused.headers["www-authenticate"], "Bearer");
  assert.equal((await sent(at, "/healthz")).status, 200);
});

test("with keys it may listen where others reach it", async (t) => {
  const at = await running(t);
  await createKey(at.home.store.keys!, { user: "ada", role: "user", expiresAt: null }, new Date());
  const { port } = await at.gateway.listen({ host: "0.0.0.0", port: 0 });
  const answer = await sent({ port }, "/nowhere", { headers: { host: "pal.example.com" } });
  assert.deepEqual([answer.status, codeOf(answer)], [401, "no-key"]);
});

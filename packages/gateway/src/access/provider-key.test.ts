import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gatewaySecret, providerKeyOf, providerUser } from "./admit.ts";

test("a provider's key is read from its header, and from a client's own only where keys are forwarded", () => {
  const rows: readonly (readonly [Record<string, string>, forward: boolean, string | null])[] = [
    [{}, true, null],
    [{ "x-provider-key": "sk-1" }, false, "sk-1"],
    [{ authorization: "Bearer sk-2" }, false, null],
    [{ authorization: "Bearer sk-2" }, true, "sk-2"],
    [{ "x-api-key": "sk-3" }, true, "sk-3"],
    [{ authorization: "Bearer pal_x", "x-api-key": "sk-3" }, true, "sk-3"],
    [{ authorization: "Bearer pal_x" }, true, null],
    [{ authorization: "Bearer sk-2", "x-provider-key": "sk-1" }, true, "sk-1"],
  ];
  for (const [headers, forward, expected] of rows)
    assert.equal(providerKeyOf(new Headers(headers), { forward }), expected, JSON.stringify(headers));
});

test("a key's user is the same each time, another's another, and says nothing of the key", () => {
  const secret = Buffer.from("a secret of this gateway");
  const userId = providerUser(secret, "sk-very-secret");
  assert.match(userId, /^provider-[0-9a-f]{40}$/);
  assert.equal(providerUser(secret, "sk-very-secret"), userId);
  assert.notEqual(providerUser(secret, "sk-other"), userId);
  assert.notEqual(providerUser(Buffer.from("another gateway's"), "sk-very-secret"), userId);
});

test("the secret is made once, for its owner alone, unless the environment brings one", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "palimpsest-secret-"));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const [one, two] = await Promise.all([gatewaySecret(directory, {}), gatewaySecret(directory, {})]);
  assert.deepEqual([one.length, two], [64, one]);
  assert.deepEqual(await gatewaySecret(directory, {}), one);
  const path = join(directory, "gateway-secret");
  if (process.platform !== "win32") assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.equal(Buffer.from(await gatewaySecret(directory, { PALIMPSEST_SECRET: "shared" })).toString(), "shared");
  await writeFile(path, "");
  await assert.rejects(gatewaySecret(directory, {}), /holds no secret/);
  assert.equal(await readFile(path, "utf8"), "");
});

// Names: of the user that a request is for, and of the gateway itself.
import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { type Keyed, keyed } from "../../test/keyed.ts";

/** With headers as they are sent, each as often as it stands. */
function statusOf(
  { port, keys }: Keyed,
  path: string,
  headers: readonly (readonly [string, string])[],
): Promise<number> {
  const all = [["authorization", `Bearer ${keys.delegate}`], ["host", "127.0.0.1"], ...headers].flat();
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: "127.0.0.1", port, path, agent: false, headers: all }, (incoming) => {
      incoming.resume();
      incoming.on("end", () => resolve(incoming.statusCode!));
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}

test("a request that names its user twice is refused, in either header", async (t) => {
  const at = await keyed(t, { config: "gateway: {user_header: X-Front-User}\n" });
  const rows = [
    [[["X-Palimpsest-User", "alice"]], 200],
    [[["X-Palimpsest-User", "alice, bob"]], 200],
    [
      [
        ["X-Palimpsest-User", "alice"],
        ["x-palimpsest-user", "bob"],
      ],
      400,
    ],
    [
      [
        ["X-Palimpsest-User", "alice"],
        ["X-Palimpsest-User", "alice"],
      ],
      400,
    ],
    [
      [
        ["X-Front-User", "alice"],
        ["x-front-user", "bob"],
      ],
      400,
    ],
  ] as const;
  for (const [headers, status] of rows) {
    assert.equal(await statusOf(at, "/api/threads", headers), status, JSON.stringify(headers));
    assert.equal(await statusOf(at, "/v1/models", headers), status, JSON.stringify(headers));
  }
});

test("where hosts are listed, a name that isn't among them gets nothing but health", async (t) => {
  const { ask } = await keyed(t, { config: "gateway: {hosts: [chat.example.com]}\n" });
  const evil = { host: "evil.test", origin: "http://evil.test" };
  for (const path of ["/api/threads", "/v1/models", "/", "/openapi.json"])
    assert.equal((await ask("ann", "GET", path, { headers: evil })).status, 403, path);
  const body = { key: "pal_any" };
  assert.equal((await ask(null, "POST", "/api/session", { headers: evil, body })).status, 403);
  const good = { host: "chat.example.com", origin: "https://chat.example.com" };
  assert.equal((await ask("ann", "GET", "/api/threads", { headers: good })).status, 200);
  assert.equal((await ask(null, "GET", "/healthz", { headers: { host: "10.0.0.7:8790" } })).status, 200);
});

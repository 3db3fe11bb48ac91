import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { test } from "node:test";
import { scriptedModel } from "@palimpsest/testing";
import { createKey } from "palimpsest/internal/key-operations";
import { openSqlite } from "palimpsest/stores";
import { codeOf, running, sent } from "../test/running.ts";
import { createGateway } from "./index.ts";

test("before it listens it has read the tokenizer of its models, so that no request waits for that", async (t) => {
  const loaded: string[] = [];
  const hooks = registerHooks({
    resolve(name, context, next) {
      loaded.push(name);
      return next(name, context);
    },
  });
  t.after(() => hooks.deregister());
  const model = "{ name: main, provider: openai-compatible, model: m, base_url: http://127.0.0.1:9/v1 }";
  await running(t, { config: `config_version: 1\nmodels: [${model}]\n` });
  assert.ok(loaded.includes("#tokenizer/o200k_base"));
});

test("it is alive and ready, and says so without a key", async (t) => {
  const at = await running(t);
  for (const path of ["/healthz", "/readyz"]) {
    const response = await fetch(at.url + path);
    assert.deepEqual([response.status, await response.json()], [200, { ok: true }], path);
  }
});

test("every request has an id, in the answer and in the log, and the log has no query and no key", async (t) => {
  const at = await running(t);
  const secret = "pal_not-for-the-log";
  const answer = await sent(at, `/nowhere?q=${secret}`, { headers: { authorization: `Bearer ${secret}` } });
  assert.equal(answer.status, 404);
  const [line] = at.lines;
  assert.equal(line!.request, answer.headers["x-request-id"]);
  assert.deepEqual([line!.method, line!.path, line!.status, line!.code], ["GET", "/nowhere", 404, "no-route"]);
  assert.doesNotMatch(JSON.stringify(at.lines), new RegExp(secret));
});

test("a page that made its name point here, and one of another site, are refused", async (t) => {
  const at = await running(t);
  const cases: readonly (readonly [Record<string, string>, string])[] = [
    [{ host: "rebound.example" }, "foreign-host"],
    [{ host: `127.0.0.1:${at.port}`, origin: "https://evil.example" }, "foreign-origin"],
    [{ host: `127.0.0.1:${at.port}`, "sec-fetch-site": "cross-site" }, "cross-site"],
  ];
  for (const [headers, code] of cases) {
    const answer = await sent(at, "/healthz", { headers });
    assert.deepEqual([answer.status, codeOf(answer)], [403, code]);
  }
});

test("an address that others can reach is refused while there are no keys, and a port in use is named", async (t) => {
  const at = await running(t);
  await assert.rejects(at.gateway.listen({ host: "0.0.0.0", port: 0 }), { code: "keys-needed" });
  await assert.rejects(at.gateway.listen({ port: at.port }), { code: "cannot-listen" });
});

test("through a server that isn't ours every request needs a key", async (t) => {
  const at = await running(t);
  const response = await at.gateway.fetch(new Request("http://127.0.0.1/nowhere", { headers: { host: "127.0.0.1" } }));
  assert.equal(response.status, 401);
});

test("closing lets an answer finish and takes no new request", async (t) => {
  const at = await running(t);
  await fetch(`${at.url}/healthz`);
  await at.gateway.close();
  await assert.rejects(fetch(`${at.url}/healthz`));
  const late = await at.gateway.fetch(new Request("http://127.0.0.1/readyz", { headers: { host: "127.0.0.1" } }));
  assert.equal(late.status, 503);
});

test("it is made of a store and a model alone, for a program that has no home, and leaves the store open", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const model = scriptedModel([]);
  const gateway = createGateway({
    store,
    model,
    config: { gateway: { body_limit_mb: 1 }, memory: { enabled: false } },
  });
  const { key } = await createKey(store.keys, { user: "ada", role: "user", expiresAt: null }, new Date());
  const ask = (path: string, body?: object) =>
    gateway.fetch(
      new Request(`http://pal.example${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  assert.equal((await ask("/api/threads", { id: "t", title: "Ours" })).status, 201);
  assert.equal(((await (await ask("/api/threads/t")).json()) as { user: string }).user, "ada");
  assert.equal((await ask("/api/memory")).status, 200);
  assert.throws(() => createGateway({ store, config: { gateway: { colour: "red" } } }), /colour/);
  await gateway.close();
  assert.equal((await store.forUser("ada").header("t"))?.id, "t");
});

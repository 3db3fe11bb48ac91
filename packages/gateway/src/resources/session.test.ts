// A browser's way in: the key once, then a cookie that no script reads and that proves nothing about who made the page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { world } from "../../test/examples.ts";
import { codeOf, running, sent } from "../../test/running.ts";

const JSON_TYPE = { "content-type": "application/json" };

test("a key is exchanged once for a cookie, which then opens what the key opens, until it is taken back", async (t) => {
  const at = await world(t);
  const open = (key: string) =>
    sent(at, "/api/session", { method: "POST", headers: JSON_TYPE, body: JSON.stringify({ key }) });
  const opened = await open(at.keys.ada);
  assert.equal(opened.status, 200);
  const [cookie] = opened.headers["set-cookie"] as string[];
  assert.match(cookie!, /; HttpOnly; SameSite=Strict$/);
  assert.doesNotMatch(opened.text + cookie, new RegExp(at.keys.ada.slice(8)));
  const held = { cookie: cookie!.split(";")[0]! };
  const user = await sent(at, "/api/user", { headers: held });
  assert.equal(JSON.parse(user.text).user, "ada");
  assert.equal((await sent(at, "/api/keys", { headers: held })).status, 403, "no more than her key may");

  const wrong = await open("pal_nobodys");
  assert.deepEqual([wrong.status, codeOf(wrong), wrong.headers["set-cookie"]], [401, "bad-key", undefined]);
  const ended = await sent(at, "/api/session", { method: "DELETE", headers: { ...JSON_TYPE, ...held }, body: "{}" });
  assert.match((ended.headers["set-cookie"] as string[])[0]!, /Max-Age=0/);
});

test("a cookie that was taken back opens nothing any more, and another one of the same key stays good", async (t) => {
  const at = await world(t);
  const open = async () => {
    const body = JSON.stringify({ key: at.keys.ada });
    const opened = await sent(at, "/api/session", { method: "POST", headers: JSON_TYPE, body });
    return (opened.headers["set-cookie"] as string[])[0]!.split(";")[0]!;
  };
  const [left, kept] = [await open(), await open()];
  const end = await sent(at, "/api/session", { method: "DELETE", headers: { ...JSON_TYPE, cookie: left }, body: "{}" });
  assert.equal(end.status, 200);
  assert.equal(codeOf(await sent(at, "/api/user", { headers: { cookie: left } })), "no-key");
  assert.equal((await sent(at, "/api/user", { headers: { cookie: kept } })).status, 200);
});

test("a change that only a cookie vouches for needs what a form of another site can't send", async (t) => {
  const at = await world(t);
  const opened = await sent(at, "/api/session", {
    method: "POST",
    headers: JSON_TYPE,
    body: JSON.stringify({ key: at.keys.ada }),
  });
  const cookie = (opened.headers["set-cookie"] as string[])[0]!.split(";")[0]!;
  const undo = (headers: Record<string, string>, body?: string) =>
    sent(at, "/api/threads/t/verify", { method: "POST", headers: { cookie, ...headers }, ...(body && { body }) });
  assert.equal(codeOf(await undo({})), "not-json");
  assert.equal(codeOf(await undo({ "content-type": "text/plain" }, "{}")), "not-json");
  assert.equal(codeOf(await undo({ ...JSON_TYPE, origin: "https://evil.example" }, "{}")), "foreign-origin");
  assert.equal((await undo(JSON_TYPE, "{}")).status, 200);
});

test("a revoked key ends its sessions, and a key in a header counts before a cookie", async (t) => {
  const at = await world(t);
  const opened = await sent(at, "/api/session", {
    method: "POST",
    headers: JSON_TYPE,
    body: JSON.stringify({ key: at.keys.ada }),
  });
  const cookie = (opened.headers["set-cookie"] as string[])[0]!.split(";")[0]!;
  const asBob = await sent(at, "/api/user", { headers: { cookie, "x-api-key": at.keys.bob } });
  assert.equal(JSON.parse(asBob.text).user, "bob");
  const { key } = JSON.parse((await sent(at, "/api/user", { headers: { cookie } })).text);
  await at.home.store.keys!.revoke(key, new Date().toISOString());
  assert.deepEqual(codeOf(await sent(at, "/api/user", { headers: { cookie } })), "bad-key");
});

test("where there are no keys nothing is asked for", async (t) => {
  const at = await running(t);
  assert.equal(JSON.parse((await sent(at, "/api/user")).text).key, null);
  const body = JSON.stringify({ key: "pal_any" });
  assert.equal(codeOf(await sent(at, "/api/session", { method: "POST", headers: JSON_TYPE, body })), "no-keys");
});

// What a key's caller has under way when the key is revoked: it ends within one look at the key.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventsOf, until } from "../../test/events.ts";
import { world } from "../../test/examples.ts";
import { ManualTime } from "../../test/manual-time.ts";
import { KEY_CHECK_MS, underWay } from "./listen.ts";

test("a stream ends when its key is revoked, and another user's goes on", async (t) => {
  const time = new ManualTime();
  const at = await world(t, { after: time.after });
  const stop = new AbortController();
  t.after(() => stop.abort());
  const follow = async (key: string) => {
    const response = await fetch(`${at.url}/api/changes`, { headers: { "x-api-key": key }, signal: stop.signal });
    const events = eventsOf(response);
    await until(events, () => true);
    return events;
  };
  const adas = await follow(at.keys.ada);
  const bobs = await follow(at.keys.bob);
  await time.pass(KEY_CHECK_MS);
  const keys = at.home.store.keys!;
  const own = (await keys.list()).find(({ user }) => user === "ada")!;
  await keys.revoke(own.id, new Date().toISOString());
  const ended = assert.rejects(until(adas, () => false));
  await time.pass(KEY_CHECK_MS);
  await ended;

  const headers = { "x-api-key": at.keys.bob, "content-type": "application/json" };
  await fetch(`${at.url}/api/threads`, { method: "POST", headers, body: JSON.stringify({ id: "new" }) });
  let heard = false;
  const hears = until(bobs, ({ data }) => JSON.stringify(data).includes("new")).then(() => {
    heard = true;
  });
  while (!heard) await time.pass(1000);
  await hears;
});

test("one look for all requests of a credential; a store that fails cuts no connection; nothing is watched at the end", async () => {
  const time = new ManualTime();
  const requests = underWay(time.after);
  let looks = 0;
  let answer: () => Promise<"valid" | "revoked"> = async () => "valid";
  const cut: string[] = [];
  const open = (name: string, key: string | null) =>
    requests.open({
      caller: { key },
      headers: new Headers({ authorization: `Bearer ${key}` }),
      outgoing: { destroy: () => cut.push(name) },
      async keysOf() {
        looks += 1;
        const presented = { id: "k", userId: "ada", role: "user", state: await answer() } as const;
        return { exist: true, presented, providerUser: null };
      },
    });
  const ends = [open("a", "one"), open("b", "one"), open("c", "two"), open("d", null)];
  await time.pass(KEY_CHECK_MS);
  assert.deepEqual([looks, cut], [2, []]);
  answer = async () => Promise.reject(new Error("no store"));
  await time.pass(KEY_CHECK_MS);
  assert.deepEqual([looks, cut], [4, []]);
  answer = async () => "revoked";
  ends[2]!();
  await time.pass(KEY_CHECK_MS);
  assert.deepEqual([looks, cut], [5, ["a", "b"]]);
  for (const end of ends) end();
  assert.deepEqual([time.waiting, requests.count()], [0, 0]);
});

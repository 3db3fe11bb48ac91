// What a page that is open hears of: threads that others write to, runs under way, threads that are gone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventsOf, until } from "../../test/events.ts";
import { world } from "../../test/examples.ts";

interface Change {
  readonly threads: readonly { readonly id: string; readonly messages: number }[];
  readonly gone: readonly string[];
}

test("a follower hears of what changes, is renamed or deleted, and of no other user's threads", async (t) => {
  const at = await world(t);
  const headers = { "x-api-key": at.keys.ada, "content-type": "application/json" };
  const stop = new AbortController();
  t.after(() => stop.abort());
  const response = await fetch(`${at.url}/api/changes`, { headers, signal: stop.signal });
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  const events = eventsOf(response);
  await until(events, () => true);

  const send = (method: string, path: string, body: object, key = at.keys.ada) =>
    fetch(at.url + path, { method, headers: { ...headers, "x-api-key": key }, body: JSON.stringify(body) });
  await send("POST", "/api/threads", { id: "bobs", title: "Bob's" }, at.keys.bob);
  await send("POST", "/api/threads", { id: "fresh", title: "Fresh" });
  const heard = await until(events, ({ data }) => (data as unknown as Change).threads.some(({ id }) => id === "fresh"));
  assert.doesNotMatch(JSON.stringify(heard), /bobs/);
  await send("DELETE", "/api/threads/fresh", {});
  const last = (await until(events, ({ data }) => (data as unknown as Change).gone.length > 0)).at(-1)!;
  assert.deepEqual((last.data as unknown as Change).gone, ["fresh"]);
});

test("a page that is open doesn't hold up the end of the gateway", async (t) => {
  const at = await world(t);
  const response = await fetch(`${at.url}/api/changes`, { headers: { "x-api-key": at.keys.ada } });
  const events = eventsOf(response);
  await until(events, () => true);
  await at.gateway.close();
  for await (const event of events) assert.fail(JSON.stringify(event));
});

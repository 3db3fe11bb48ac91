// Fifty thousand messages in one request, and the next one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { verify } from "palimpsest/threads";
import { ask, user } from "../../test/asking.ts";
import { beforeProvider } from "../../test/before-provider.ts";

test("fifty thousand messages at once are answered, and the next request goes on", async (t) => {
  const served = await beforeProvider(t, { window: 16_000, record: "verdicts", respond: () => "ok" });
  const messages = Array.from({ length: 25_000 }, (_, turn) => [
    user(`question ${turn}`),
    { role: "assistant", content: `answer ${turn}` },
  ]).flat();
  const asked = [...messages, user("And now?")];
  const first = await ask(served.url, asked);
  const second = await ask(served.url, [...asked, first.message, user("Then?")]);
  t.diagnostic(`${first.header("match")}, ${second.header("match")}`);
  assert.deepEqual([first.status, second.status, second.header("view")], [200, 200, "compacted"]);
  for (const { header } of (await served.home.store.threads()).threads)
    assert.equal((await verify(served.home, header.id)).kind, "whole");
});

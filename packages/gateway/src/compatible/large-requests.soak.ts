// Requests as large as they may be, and the ones after them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { verify } from "palimpsest/session";
import { ask, CHAT, MESSAGES, RESPONSES, user } from "../../test/asking.ts";
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

test("a body just under the limit of 64 MB is answered and gone on with in each protocol; one over it is refused", async (t) => {
  const served = await beforeProvider(t, { record: "verdicts", respond: () => "ok" });
  for (const path of [CHAT, MESSAGES, RESPONSES]) {
    const pasted = user("y".repeat(63 * MB));
    const first = await ask(served.url, [pasted], { path });
    const second = await ask(served.url, [pasted, first.message, user("And?")], { path });
    const third = await ask(served.url, [user("y".repeat(64 * MB))], { path });
    t.diagnostic(
      `${path}: ${[first, second].map(({ status, header }) => `${status} ${header("match")} ${header("view")}`)}`,
    );
    assert.deepEqual([first.status, second.status, third.status], [200, 200, 413]);
    assert.equal(second.header("match"), "extended");
  }
  for (const { header } of (await served.home.store.threads()).threads)
    assert.equal((await verify(served.home, header.id)).kind, "whole");
});

const MB = 1024 * 1024;

import assert from "node:assert/strict";
import { test } from "node:test";
import { talk } from "../../test/asking.ts";
import { beforeProvider } from "../../test/before-provider.ts";

const respond = ({ index }: { readonly index: number }) => `Answer ${index}: ${"seven fathoms. ".repeat(12)}`;

test("a client's messages are sent as they are, however long it waited, until something is hidden", async (t) => {
  let now = Date.parse("2026-11-18T08:00:00Z");
  const clock = () => new Date(now);
  const { url, provider } = await beforeProvider(t, { window: 2000, respond, running: { clock } });
  const first = await talk(url, 2);
  now += 30 * 3_600_000;
  const second = await talk(url, 1, { history: first.messages });
  assert.equal(second.heard[0]!.header("view"), "verbatim");
  assert.doesNotMatch(JSON.stringify(provider.requests.at(-1)!.body), /after the message before/);
  const third = await talk(url, 20, { history: second.messages });
  now += 30 * 3_600_000;
  const fourth = await talk(url, 1, { history: third.messages });
  assert.equal(fourth.heard[0]!.header("view"), "compacted");
  assert.match(
    JSON.stringify(provider.requests.at(-1)!.body),
    /30 hours after the message before: 2026-11-20 20:00 UTC/,
  );
});

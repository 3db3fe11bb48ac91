// A client that compacts by itself must stay calm: whatever it asks, it is told the size of what is really sent.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, CHAT, MESSAGES, RESPONSES, talk, user } from "../../test/asking.ts";
import { beforeProvider } from "../../test/before-provider.ts";
import { running } from "../../test/running.ts";

const respond = ({ index }: { readonly index: number }) => `Answer ${index}: ${"seven fathoms. ".repeat(12)}`;

const PROTOCOLS = [
  [CHAT, null, {}, "prompt_tokens"],
  [MESSAGES, `${MESSAGES}/count_tokens`, { system: "Be brief. ".repeat(300) }, "input_tokens"],
  [RESPONSES, `${RESPONSES}/input_tokens`, { instructions: "Be brief. ".repeat(300) }, "input_tokens"],
] as const;

for (const [path, counting, body, field] of PROTOCOLS)
  for (const turns of [4, 22])
    test(`${path}, ${turns} turns: usage, headers and the count endpoint agree`, async (t) => {
      const { url } = await beforeProvider(t, { stated: 5000, respond });
      const { messages } = await talk(url, turns, { path, body });
      const asked = [...messages, user("And what is it here, at the last buoy, by the pier?")];
      const counted = counting === null ? null : JSON.parse((await ask(url, asked, { path: counting, body })).text);
      const answer = await ask(url, asked, { path, body });
      assert.equal(answer.header("view"), turns > 10 ? "compacted" : "verbatim");
      const used = JSON.parse(answer.text).usage[field] as number;
      const told = Number(answer.header("tokens")!.split(";")[1]);
      const near = (one: number, what: string) =>
        assert.ok(Math.abs(one / used - 1) < 0.05, `${what} says ${one}, the provider counted ${used}`);
      near(told, "the header");
      if (counted !== null) near(counted.input_tokens, "the count endpoint");
    });

test("where no provider counts, a message that was never sent counts as it will be sent, and an image by its size and not its bytes", async (t) => {
  const { url } = await running(t);
  const counted = async (content: unknown) =>
    JSON.parse((await ask(url, [user(content)], { path: `${MESSAGES}/count_tokens` })).text).input_tokens as number;
  const asked = "How deep is it here, by the pier?";
  const answer = await ask(url, [user(asked)], { path: MESSAGES });
  assert.equal(await counted(`${asked}!`), Number(answer.header("tokens")!.split(";")[1]));
  const data = Buffer.alloc(300_000, "picture").toString("base64");
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data } };
  const tokens = await counted([image, { type: "text", text: asked }]);
  assert.ok(tokens < 5_000, `${tokens} tokens`);
});

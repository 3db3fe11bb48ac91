import assert from "node:assert/strict";
import { test } from "node:test";
import { redact } from "palimpsest/session";
import { ask, MESSAGES, talk, user } from "../../test/asking.ts";
import { beforeProvider } from "../../test/before-provider.ts";

const respond = ({ index }: { readonly index: number }) => `Answer ${index}: ${"seven fathoms. ".repeat(12)}`;

for (const compaction of ["off", "native"])
  test(`X-Palimpsest-Compaction: ${compaction} passes a prompt that is too long as it is, also of a thread that was compacted before`, async (t) => {
    const { url, provider } = await beforeProvider(t, { stated: 4000, respond });
    const headers = { "x-palimpsest-compaction": compaction };
    const whole = await talk(url, 20, { headers });
    assert.deepEqual(new Set(whole.heard.map(({ header }) => header("view"))), new Set(["verbatim"]));
    assert.equal(provider.requests.at(-1)!.turns.length, 39);
    const ours = await talk(url, 2, { history: whole.messages });
    assert.equal(ours.heard.at(-1)!.header("view"), "compacted");
    assert.ok(provider.requests.at(-1)!.turns.length < 43);
    const again = await talk(url, 1, { history: ours.messages, headers });
    assert.deepEqual([again.heard[0]!.header("view"), again.heard[0]!.header("match")], ["verbatim", "extended"]);
    assert.equal(provider.requests.at(-1)!.turns.length, 45);
  });

test("with compaction off the provider's own refusal for length reaches the client", async (t) => {
  const { url, provider } = await beforeProvider(t, { window: 2000, respond });
  const { heard } = await talk(url, 12, { headers: { "x-palimpsest-compaction": "off" } });
  assert.equal(heard.at(-1)!.status, 400);
  assert.equal(provider.requests.length, 12, "asked once each");
});

test("erased words stay erased with compaction off", async (t) => {
  const { url, provider, home } = await beforeProvider(t, { respond: () => "ok" });
  const headers = { "x-palimpsest-compaction": "off" };
  const first = await ask(url, [user("my secret is swordfish")], { headers });
  await redact(home, first.header("thread")!, 1);
  const next = await ask(url, [user("my secret is swordfish"), first.message, user("two")], { headers });
  assert.equal(next.header("match"), "extended");
  assert.doesNotMatch(JSON.stringify(provider.requests.at(-1)!.body), /swordfish/);
});

test("thoughts made under the client's own history are not taken for those of the view: binding, native, then ours", async (t) => {
  const { url, provider } = await beforeProvider(t, {
    stated: 4000,
    binding: "prefix",
    respond: (request) => ({ reasoning: `Thought ${request.index}.`, text: respond(request) }),
  });
  const body = { model: "bound", thinking: { type: "adaptive" } };
  const path = MESSAGES;
  const ours = await talk(url, 14, { path, body });
  assert.equal(ours.heard.at(-1)!.header("view"), "compacted");
  const text = { ...body, thinking: undefined };
  const dropped = ours.messages.map((message) => {
    const { content } = message as { content: unknown };
    return Array.isArray(content)
      ? { ...message, content: content.filter(({ type }) => type !== "thinking") }
      : message;
  });
  const native = await talk(url, 1, {
    path,
    body: text,
    history: dropped,
    headers: { "x-palimpsest-compaction": "native" },
  });
  const { heard } = await talk(url, 3, { path, body, history: native.messages });
  assert.equal(heard[0]!.header("compaction"), null, "what all of it counted says nothing about the view");
  assert.deepEqual(
    heard.map(({ status }) => status),
    [200, 200, 200],
  );
  assert.deepEqual(new Set(provider.requests.map(({ verdict }) => verdict.kind)), new Set(["answered"]));
});

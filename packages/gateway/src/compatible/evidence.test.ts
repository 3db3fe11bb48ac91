// What is added to a question if it is asked for, and never else; and what that leaves of the log and the prefix.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createClient } from "palimpsest/client";
import { replay } from "palimpsest/internal/threads";
import { redact, verify } from "palimpsest/session";
import { type AskOptions, ask, CHAT, MESSAGES, type Message, RESPONSES, talk, user } from "../../test/asking.ts";
import { type BeforeProvider, type BeforeProviderOptions, beforeProvider } from "../../test/before-provider.ts";

const respond = ({ index }: { readonly index: number }) => `Answer ${index}: ${"seven fathoms. ".repeat(12)}`;
const EVIDENCE = "gateway: {evidence: true}\nmemory: {enabled: false}\n";
const SECRET = "The password of the boathouse is swordfish.";

const sentTo = ({ provider }: BeforeProvider, index = -1): string =>
  JSON.stringify(provider.requests.at(index)!.turns.at(-1));

async function said({ home }: BeforeProvider, threadId: string | null): Promise<string[]> {
  assert.equal((await verify(home, threadId!)).kind, "whole");
  const bodies: string[] = [];
  for await (const { body } of replay(home, threadId!)) bodies.push(body);
  return bodies;
}

/** A conversation whose first words are hidden, and what its client has of it. */
async function hiding(t: TestContext, more: AskOptions & BeforeProviderOptions = {}) {
  const { path = CHAT, body = {}, headers = {}, ...options } = more;
  const served = await beforeProvider(t, { window: 4000, respond, config: EVIDENCE, ...options });
  const question = (turn: number) => (turn === 1 ? SECRET : `Question ${turn}: ${"how deep is it there? ".repeat(40)}`);
  const { messages, heard } = await talk(served.url, 20, { path, body, headers, question });
  assert.equal(heard.at(-1)!.header("view"), "compacted");
  return { served, messages, ask: (asked: readonly Message[]) => ask(served.url, asked, { path, body, headers }) };
}

for (const [path, body] of [
  [CHAT, {}],
  [MESSAGES, { max_tokens: 500 }],
  [RESPONSES, {}],
] as const)
  test(`${path}: hidden words that matter are shown with the question, stay with it, and are no part of what was said`, async (t) => {
    const { served, messages, ask: next } = await hiding(t, { path, body });
    const question = user("What was the password of the boathouse?");
    const first = await next([...messages, question]);
    assert.ok(Number(first.header("evidence")) > 0);
    assert.match(sentTo(served), /swordfish/);
    assert.match(sentTo(served), /<evidence>/);
    const log = await said(served, first.header("thread"));
    assert.ok(!log.some((one) => one.includes("<evidence>")));
    const shown = served.provider.requests.at(-1)!.turns;
    const second = await next([...messages, question, first.message, user("Thanks.")]);
    assert.deepEqual([second.status, second.header("match"), second.header("evidence")], [200, "extended", null]);
    const after = served.provider.requests.at(-1)!.turns;
    assert.deepEqual(after.slice(0, shown.length), shown, "what was sent before is sent again, word for word");
  });

test("nothing is added unless it is asked for", async (t) => {
  const { served, messages, ask: next } = await hiding(t, { config: "" });
  const answer = await next([...messages, user("What was the password of the boathouse?")]);
  assert.equal(answer.header("evidence"), null);
  assert.doesNotMatch(sentTo(served), /evidence/);
});

test("erased words are not shown as evidence, and what showed them shows them no more", async (t) => {
  const { served, messages, ask: next } = await hiding(t);
  const question = user("What was the password of the boathouse?");
  const first = await next([...messages, question]);
  await redact(served.home, first.header("thread")!, 1);
  await next([...messages, question, first.message, user("And which boathouse was it?")]);
  assert.doesNotMatch(JSON.stringify(served.provider.requests.at(-1)!.body), /swordfish/);
});

test("thoughts that are bound to their prefix stay valid behind evidence", async (t) => {
  const {
    served,
    messages,
    ask: next,
  } = await hiding(t, {
    path: MESSAGES,
    body: { model: "bound", thinking: { type: "adaptive" } },
    binding: "prefix",
    respond: (request) => ({ reasoning: `Thought ${request.index}.`, text: respond(request) }),
  });
  let history: Message[] = messages;
  for (const words of ["What was the password of the boathouse?", "And the boathouse's colour?", "Thanks."]) {
    const answer = await next([...history, user(words)]);
    history = [...history, user(words), answer.message];
  }
  assert.deepEqual(new Set(served.provider.requests.map(({ verdict }) => verdict.kind)), new Set(["answered"]));
  const thoughts = served.provider.requests.at(-1)!.turns.flatMap(({ parts }) => parts);
  assert.ok(thoughts.filter(({ kind }) => kind === "reasoning").length >= 2);
});

const REMEMBERING = "memory: {debounce_seconds: 0}\ntitle: {enabled: false}\n";

test("memory by header: facts and other conversations are shown, and only those of the user who asks and the agent that is named", async (t) => {
  const served = await beforeProvider(t, { respond: () => "ok", config: REMEMBERING });
  const { home, url } = served;
  const { memory } = await home.agent();
  const add = (agentName: string | null, content: string) =>
    memory!.service.add({ userId: "default", agentName }, { content });
  await add(null, "Prefers metric units.");
  await add("pilot", "Sails a ketch called Halcyon.");
  const question = [user("How deep is it at the second buoy?")];

  await ask(url, question);
  assert.doesNotMatch(sentTo(served), /metric/);
  const own = await ask(url, question, { headers: { "x-palimpsest-memory": "on" } });
  assert.match(sentTo(served), /metric units/);
  assert.equal(own.header("view"), "verbatim", "nothing is hidden");
  assert.doesNotMatch((await said(served, own.header("thread"))).join("\n"), /metric/);
  const headers = { "x-palimpsest-memory": "on", "x-palimpsest-agent": "pilot" };
  const pilots = await ask(url, question, { headers });
  assert.match(sentTo(served), /Halcyon/);
  assert.equal((await home.store.header(pilots.header("thread")!))?.agent, "pilot");

  const next = await ask(url, [...question, own.message, user("And the third?")], {
    headers: { "x-palimpsest-memory": "on" },
  });
  assert.equal(next.header("match"), "extended");
  const { turns } = served.provider.requests.at(-1)!;
  assert.match(JSON.stringify(turns[0]), /metric units/, "it stays where it was shown");
  assert.doesNotMatch(JSON.stringify(turns.at(-1)), /metric units/, "and is not shown twice");
});

test("a conversation imported with memory=off is found by a person, and is evidence in no other thread", async (t) => {
  const served = await beforeProvider(t, { respond: () => "ok", config: REMEMBERING });
  const client = createClient({ url: served.url });
  for (const [id, content, query] of [
    ["mine", "The failing carts all have a red voucher.", {}],
    ["example", "The failing carts all have a green voucher.", { memory: "off" }],
  ] as const) {
    const body = JSON.stringify([{ role: "user", content }]);
    await client.call("POST /api/threads/{id}/import", { params: { id }, query, body });
  }
  await ask(served.url, [user("Which carts have a voucher?")], { headers: { "x-palimpsest-memory": "on" } });
  assert.match(sentTo(served), /red voucher/);
  assert.doesNotMatch(sentTo(served), /green/);
  const { hits } = await client.call("GET /api/search", { query: { q: "voucher" } });
  assert.ok(hits.some(({ thread }) => thread === "example"));
});

test("with gateway.memory what is said is queued to be learned from; a header turns it off", async (t) => {
  const served = await beforeProvider(t, {
    respond: () => "ok",
    config: `gateway: {memory: true}\nmemory: {debounce_seconds: 3600}\n`,
  });
  const { home, url } = served;
  const jobs = async () => (await home.store.outbox!.list("memory")).map(({ threadId }) => threadId);
  await ask(url, [user("I sail a ketch called Halcyon.")], { headers: { "x-palimpsest-memory": "off" } });
  assert.deepEqual(await jobs(), []);
  const first = await ask(url, [user("I sail a ketch called Halcyon.")]);
  assert.deepEqual(await jobs(), [first.header("thread")]);
});

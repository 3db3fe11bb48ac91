import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type OpenAiMessage, shapeOf } from "@palimpsest/core/internal/message";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import { openSqlite } from "../stores/sqlite.ts";
import type { AppendBatch, HeldLease, Store } from "../stores/store.ts";
import { fork, pin, withWriter } from "./acts.ts";
import { verify } from "./audit.ts";
import { type OpenThread, type OpenThreadOptions, openThread, type WriteAlso } from "./open-thread.ts";
import { redact } from "./redact.ts";
import { commit, ThreadError, threadDeps } from "./writer.ts";

const user = (content: string): OpenAiMessage => ({ role: "user", content });
const answer = (content: string): OpenAiMessage => ({ role: "assistant", content });
const SHAPE = shapeOf("openai");

function newStore(t: TestContext): Store {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  return store;
}

type Given = Partial<OpenThreadOptions<OpenAiMessage>>;

async function opened(store: Store, given: Given = {}): Promise<OpenThread<OpenAiMessage>> {
  const result = await openThread({
    store,
    id: "t",
    shape: SHAPE,
    window: 4000,
    counter: charsPerToken(4),
    model: "m",
    ...given,
  });
  assert.equal(result.kind, "open");
  assert.ok(result.kind === "open");
  return result.thread;
}

const contents = async (thread: OpenThread<OpenAiMessage>) =>
  (await thread.prompt()).messages.map(({ content }) => content);

async function idsIn(store: Store, threadId = "t"): Promise<string[]> {
  const ids: string[] = [];
  for await (const { record } of store.records(threadId, { kinds: ["message"] }))
    if (record.kind === "message") ids.push(record.id);
  return ids;
}

test("a thread that doesn't exist is made, and what was said comes back as it is sent", async (t) => {
  const store = newStore(t);
  const thread = await opened(store, { userId: "ann", agentName: "helper" });
  assert.deepEqual(await thread.append([user("hello"), answer("hi"), user("go on")]), [1, 2, 3]);
  assert.deepEqual(await contents(thread), ["hello", "hi", "go on"]);
  const header = await store.forUser("ann").header("t");
  assert.equal(header?.agent, "helper");
  assert.equal(await store.header("t"), undefined, "another user's thread of that name is another one");
});

test("an empty thread has nothing to send, and one that ends with an answer is asked to go on", async (t) => {
  const thread = await opened(newStore(t));
  assert.deepEqual((await thread.prompt()).messages, []);
  await thread.append([user("hello"), answer("hi")]);
  const { messages, sources } = await thread.prompt();
  assert.equal(messages.at(-1)?.role, "user");
  assert.deepEqual(sources, ["message", "message", "added"]);
});

test("what can't be opened is said as a value", async (t) => {
  const store = newStore(t);
  const base = { store, id: "t", shape: SHAPE, window: 4000 };
  assert.equal((await openThread({ ...base, id: "../x" })).kind, "bad-id");
  assert.equal((await openThread({ ...base, userId: "" })).kind, "bad-user");
  const odd = await openThread({ ...base, shape: { ...SHAPE, dialect: "mine" } });
  assert.ok(odd.kind === "bad-shape" && /"mine"/.test(odd.problem));
  await assert.rejects(openThread({ ...base, summarization: { trigger: [] } }), { code: "settings" });
});

test("a message given again under its id is passed over: at once, hidden, after opening anew, and in a fork", async (t) => {
  const store = newStore(t);
  const history = Array.from({ length: 40 }, (_, index) => {
    const message = index % 2 === 0 ? user(`question ${index} ${"x".repeat(900)}`) : answer(`answer ${index}`);
    return { id: `m${index}`, message };
  });
  const first = await opened(store);
  const seqs = await first.append(history);
  assert.deepEqual(await first.append([...history, ...history]), [...seqs, ...seqs]);
  assert.equal((await first.prompt()).outcome?.kind, "compacted");
  const again = await opened(store);
  const more = [...history, { id: "m40", message: user("and now?") }];
  assert.deepEqual((await again.append(more)).slice(0, -1), seqs);
  assert.deepEqual(await first.append(more), await again.append(more), "the first session sees what the second wrote");
  await fork(threadDeps(store), "t", { as: "f" });
  const forked = await opened(store, { id: "f" });
  assert.deepEqual((await forked.append(more)).slice(0, 40), seqs);
  for (const name of ["t", "f"]) {
    const ids = await idsIn(store, name);
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(ids.length, 41);
    assert.equal((await verify(threadDeps(store), name)).kind, "whole");
  }
});

test("one id twice in a batch is one message, messages without an id are always new", async (t) => {
  const store = newStore(t);
  const thread = await opened(store);
  const twice = { id: "a", message: user("once") };
  assert.deepEqual(await thread.append([twice, twice, user("same"), user("same")]), [1, 1, 2, 3]);
});

test("a message the shape can't read is refused by its place, and nothing is written", async (t) => {
  const store = newStore(t);
  const thread = await opened(store);
  const odd = { role: "wizard", content: "abracadabra" } as unknown as OpenAiMessage;
  await assert.rejects(thread.append([user("fine"), odd]), { code: "bad-message", message: /message 2/ });
  for (const wrong of [[null], ["hi"], user("no array"), null])
    await assert.rejects(thread.append(wrong as never), { name: "ThreadError", code: "bad-message" });
  assert.deepEqual(await idsIn(store), []);
});

test("two sessions on one thread write side by side, and each sends what both have said", async (t) => {
  const store = newStore(t);
  const [one, two] = [await opened(store), await opened(store)];
  await Promise.all([
    ...[1, 2, 3, 4, 5].map((n) => one.append([{ id: `a${n}`, message: user(`a${n}`) }])),
    ...[1, 2, 3, 4, 5].map((n) => two.append([{ id: `b${n}`, message: user(`b${n}`) }])),
    one.append([{ id: "both", message: user("both") }]),
    two.append([{ id: "both", message: user("both") }]),
  ]);
  assert.equal((await idsIn(store)).length, 11);
  assert.deepEqual(await contents(one), await contents(two));
  assert.equal((await verify(threadDeps(store), "t")).kind, "whole");
});

test("nothing is held between two calls, and a thread that somebody holds is waited for or named as busy", async (t) => {
  const store = newStore(t);
  const thread = await opened(store, { waitMs: 0 });
  await thread.append([user("one")]);
  const free = await store.acquireLease("t", "somebody", 600_000);
  assert.ok(free.kind === "acquired");
  await assert.rejects(thread.append([user("two")]), (error) => {
    assert.ok(ThreadError.isInstance(error) && error.code === "busy");
    assert.match(error.message, /its lease was last renewed \d{4}-\S+ and ends \d{4}-\S+ at the latest/);
    return true;
  });
  assert.deepEqual(await contents(thread), ["one"], "asking goes on");
  const patient = await opened(store, { waitMs: 60_000 });
  const waiting = patient.append([user("three")]);
  await store.releaseLease(free.lease);
  assert.deepEqual(await waiting, [2]);
});

test("held from opening to closing, a thread is nobody else's", async (t) => {
  const store = newStore(t);
  const thread = await opened(store, { lease: "held" });
  await thread.append([user("mine")]);
  const other = await openThread({ store, id: "t", shape: SHAPE, window: 4000, lease: "held" });
  assert.equal(other.kind, "busy");
  await thread.close();
  const next = await opened(store, { lease: "held" });
  assert.deepEqual(await contents(next), ["mine"]);
  await next.close();
  await assert.rejects(thread.append([user("late")]), { code: "closed" });
  await thread.close();
});

test("a thread that stays open is held and released again and again, and sees what was written in between", async (t) => {
  const store = newStore(t);
  const thread = await opened(store);
  assert.equal(await thread.hold(), "held");
  await thread.append([user("one")]);
  const other = await opened(store, { waitMs: 0 });
  await assert.rejects(other.append([user("no")]), { code: "busy" });
  assert.equal(((await other.hold()) as HeldLease).kind, "busy");
  await thread.release();
  await other.append([user("two")]);
  assert.equal(await thread.hold(), "held");
  assert.deepEqual(await contents(thread), ["one", "two"]);
  await thread.close();
  await other.append([user("three")]);
});

test("under a lease that the caller holds, a thread is written to; once it is lost nothing is", async (t) => {
  const store = newStore(t);
  await (await opened(store)).append([user("one")]);
  const taken = await store.acquireLease("t", "me", 60_000);
  assert.ok(taken.kind === "acquired");
  const lost = new AbortController();
  const thread = await opened(store, { lease: { lease: taken.lease, lost: lost.signal } });
  await thread.append([user("two")]);
  lost.abort();
  await assert.rejects(thread.append([user("three")]), { code: "lease-lost" });
  await thread.close();
  assert.equal((await store.acquireLease("t", "other", 1)).kind, "busy", "whoever took it gives it back");
});

test("what belongs to an append is written in the same commit, with the places of its messages", async (t) => {
  const store = newStore(t);
  const batches: AppendBatch[] = [];
  const append: Store["append"] = (id, batch) => {
    batches.push(batch);
    return store.append(id, batch);
  };
  const thread = await opened({ ...store, append, forUser: () => ({ ...store, append }) });
  const match = { hash: "h", answer: "a", group: "g", fixed: "f" };
  const also: WriteAlso = ([first]) => ({
    matches: [{ ...match, seq: first! }],
    flush: "later",
    state: { title: "T" },
  });
  await thread.append([{ id: "a", message: user("one") }, user("two")], also);
  assert.deepEqual(batches[0]?.matches, [{ ...match, seq: 1 }]);
  assert.equal(batches[0]?.flush, "later");
  assert.equal((await store.head("t"))?.state["title"], "T");
  await thread.append([{ id: "a", message: user("one") }], () => assert.fail("nothing is written"));
  assert.equal(batches.length, 1);
});

test("another act on an open thread is done under its lease, and the thread goes on from it", async (t) => {
  const store = newStore(t);
  const thread = await opened(store, { lease: "held" });
  await thread.append([user("one")]);
  await thread.act((writer) => commit(writer, [{ kind: "message", ...injected("two") }]));
  assert.deepEqual(await contents(thread), ["one", "two"]);
  await thread.close();
});

const injected = (text: string) =>
  ({ id: text, dialect: "openai", origin: "user", body: JSON.stringify(user(text)) }) as const;

test("a thread says how its view differs from what was said", async (t) => {
  const store = newStore(t);
  const thread = await opened(store, { lease: "held" });
  const [seq] = await thread.append([user(`secret ${"s".repeat(4000)}`), answer("two"), user("three")]);
  assert.deepEqual(await thread.changes(), { version: 3, hidden: false, erased: false, added: false });
  await thread.compact({ keep: { type: "messages", value: 1 } });
  assert.equal((await thread.changes()).hidden, true);
  await thread.release();
  await redact(threadDeps(store), "t", seq!);
  assert.equal((await thread.changes()).erased, true);
  await thread.close();
});

test("a thread that doesn't exist is not made where that is refused", async (t) => {
  const store = newStore(t);
  const given = { store, id: "t", shape: SHAPE, window: 4000, ifMissing: "refuse" } as const;
  for (const lease of ["per-write", "held"] as const)
    assert.deepEqual(await openThread({ ...given, lease }), { kind: "missing" });
  assert.equal(await store.header("t"), undefined);
});

test("a thread deleted while it is open is named as such", async (t) => {
  const store = newStore(t);
  const thread = await opened(store);
  await thread.append([user("one")]);
  await store.deleteThread("t");
  await assert.rejects(thread.append([user("two")]), { code: "missing" });
  await assert.rejects(thread.prompt(), { code: "missing" });
});

test("the prompt is the same array until something changes", async (t) => {
  const store = newStore(t);
  const thread = await opened(store);
  await thread.append([user("one"), answer("two")]);
  const first = (await thread.prompt()).messages;
  assert.equal((await thread.prompt()).messages, first);
  await thread.append([answer("three")]);
  const grown = (await thread.prompt()).messages;
  assert.deepEqual(grown.slice(0, 2), first.slice(0, 2));
  assert.equal(grown[0], first[0], "what stands is the same object");
});

test("reports anchor the count: of the first answer, of a message that is named, or of one that is still to come", async (t) => {
  const store = newStore(t);
  const thread = await opened(store);
  const usage = { input: 500, output: 20 };
  assert.deepEqual(await thread.report(usage), { kind: "ignored", reason: "no-prompt" });
  await thread.append([user("q".repeat(1600))]);
  assert.equal((await thread.prompt()).count.source, "estimated");
  await thread.append([{ id: "a1", message: answer("fine") }]);
  assert.deepEqual(await thread.report(usage), { kind: "accepted" });
  await thread.append([user("more")]);
  const anchored = (await thread.prompt()).count;
  assert.equal(anchored.source, "anchored");
  assert.ok(anchored.tokens > 500 && anchored.tokens < 560, String(anchored.tokens));
  assert.deepEqual(await thread.report({ input: 530, output: 20 }), { kind: "pending" });
  await thread.append([answer("yes"), user("and?")]);
  const settled = await thread.prompt();
  assert.equal(settled.count.source, "anchored");
  assert.deepEqual(await thread.report({ input: 0, output: 0 }, { of: "a1" }), { kind: "ignored", reason: "zero" });
  assert.deepEqual(await thread.report(null), { kind: "ignored", reason: "no-usage" });
  const again = await opened(store);
  assert.deepEqual((await again.prompt()).count, settled.count, "the next process counts the same");
});

test("after a crash between an answer and its report the thread goes on, counted on the report before", async (t) => {
  const store = newStore(t);
  const crashed = await opened(store);
  await crashed.append([user("one".repeat(200))]);
  await crashed.prompt();
  await crashed.append([answer("first")]);
  await crashed.report({ input: 300, output: 5 });
  await crashed.append([user("two")]);
  await crashed.prompt();
  await crashed.append([{ id: "a2", message: answer("second") }]);
  const next = await opened(store);
  await next.append([
    { id: "a2", message: answer("second") },
    { id: "u3", message: user("three") },
  ]);
  const { count, messages } = await next.prompt();
  assert.equal(messages.length, 5);
  assert.equal(count.source, "anchored");
  assert.ok(count.tokens > 300 && count.tokens < 360, String(count.tokens));
});

test("another session's compaction and reports are taken over, and one that a summary was written against is not undone", async (t) => {
  const store = newStore(t);
  let written = 0;
  let meanwhile: (() => Promise<unknown>) | null = null;
  const summarizer = async (): Promise<string> => {
    written += 1;
    const act = meanwhile;
    meanwhile = null;
    await act?.();
    return "not a patch";
  };
  const one = await opened(store, { summarizer });
  const two = await opened(store);
  await one.append(Array.from({ length: 24 }, (_, n) => (n % 2 ? answer(`a${n}`) : user(`q${n} ${"y".repeat(1200)}`))));
  // Somebody else speaks while the summary is being written: it stands, and what they said is in the prompt.
  meanwhile = () => two.append([user("by the way")]);
  const first = await one.prompt();
  assert.ok(written > 0);
  assert.equal(first.outcome?.kind, "compacted");
  assert.equal(first.messages.at(-1)?.content, "by the way");
  assert.deepEqual((await two.prompt()).messages, first.messages);
  // Somebody else compacts meanwhile: planned again on what they left.
  await one.append(Array.from({ length: 24 }, (_, n) => (n % 2 ? answer(`b${n}`) : user(`r${n} ${"z".repeat(1200)}`))));
  meanwhile = () => two.compact();
  const second = await one.prompt();
  assert.deepEqual((await two.prompt()).messages, second.messages);
  assert.ok(second.count.tokens < 4000);
  assert.equal((await verify(threadDeps(store), "t")).kind, "whole");
});

test("too long in a provider's words: the prompt is made to fit what it states, and the limit is remembered", async (t) => {
  const store = newStore(t);
  const events: string[] = [];
  const thread = await opened(store, { window: 100_000, onEvent: ({ type }) => events.push(type) });
  await thread.append(
    Array.from({ length: 41 }, (_, n) => (n % 2 ? answer(`a${n}`) : user(`q${n} ${"w".repeat(1600)}`))),
  );
  const before = await thread.prompt();
  assert.ok(before.count.tokens > 8000);
  assert.equal(await thread.recover(new Error("connect ECONNREFUSED")), false);
  const refusal = { status: 400, error: { message: "This model's maximum context length is 4096 tokens." } };
  assert.equal(await thread.recover(refusal), true);
  const after = await thread.prompt();
  assert.ok(after.count.tokens < 4096, String(after.count.tokens));
  assert.equal(after.messages.at(-1)?.content, before.messages.at(-1)?.content);
  assert.ok(events.includes("overflow-recover"));
  await thread.append([answer("ok"), user("n".repeat(8000))]);
  assert.ok((await thread.prompt()).count.tokens < 4096);
});

test("compact by hand, undo, pins, search: the same acts as on any thread", async (t) => {
  const store = newStore(t);
  const thread = await opened(store, { summarization: false });
  await thread.append(
    Array.from({ length: 20 }, (_, n) => (n % 2 ? answer(`a${n}`) : user(`q${n} heron ${"v ".repeat(90)}`))),
  );
  await withWriter(threadDeps(store), "t", (writer) => pin(writer, 1));
  const whole = await thread.prompt();
  assert.equal(whole.outcome, null);
  const outcome = await thread.compact({ keep: { type: "messages", value: 2 } });
  assert.equal(outcome.kind, "compacted");
  const compacted = await thread.prompt();
  assert.ok(compacted.messages.length < whole.messages.length);
  assert.match(JSON.stringify(compacted.messages), /q0 heron/);
  const found = await thread.search("heron", { limit: 3 });
  assert.ok(found.kind === "found" && found.hits.length === 3);
  assert.equal((await thread.undo()).kind, "undone");
  assert.deepEqual((await thread.prompt()).messages, whole.messages);
});

test("what is sent beside the messages is counted, may change between calls, and is known to whoever looks at the thread", async (t) => {
  const store = newStore(t);
  const tools = [{ name: "sound", parameters: { type: "object", description: "d".repeat(400) } }];
  const thread = await opened(store, { fixed: { system: "s".repeat(400), tools } });
  await thread.append([user("hello")]);
  const { count } = await thread.prompt();
  assert.ok(count.tokens > 200);
  await thread.append([answer("hi")]);
  await thread.report({ input: count.tokens, output: 2 });
  const { request } = (await store.head("t"))!.state as { request: { parts: Record<string, number> } };
  assert.ok(request.parts["base"]! > 100 && request.parts["definitions"]! > 100);
  const bare = await thread.prompt({ fixed: {} });
  assert.ok(bare.count.tokens < count.tokens - 150);
  assert.equal((await thread.prompt({ fixed: { tokens: 1000 } })).count.tokens > 1000, true);
});

test("a thread that is opened again counts a system prompt once: the last report has it already", async (t) => {
  const store = newStore(t);
  const fixed = { system: "Be brief. ".repeat(300) };
  const first = await opened(store);
  await first.append([user("How deep is it here?")]);
  await first.prompt({ fixed });
  await first.append([answer("Seven fathoms.")]);
  await first.report({ input: 500, output: 5 });
  await first.append([user("And there?")]);
  const { tokens } = (await first.prompt({ fixed })).count;
  await first.close();
  assert.ok(tokens > 500 && tokens < 520, String(tokens));
  const again = await opened(store);
  assert.deepEqual((await again.prompt({ fixed })).count, { tokens, source: "anchored" });
});

test("a window that is no number of tokens is refused, since nothing would ever be too long for it", async (t) => {
  const store = newStore(t);
  for (const window of [Number.NaN, 0, -1, "4000", null, undefined]) {
    await assert.rejects(opened(store, { window: window as number }), { name: "SettingsError" }, String(window));
    const thread = await opened(store, { window: () => window as number }).catch((error: Error) => error);
    const error = thread instanceof Error ? thread : await thread.prompt().catch((thrown: Error) => thrown);
    assert.match(String(error), /window .* must be a number of tokens above 0/);
  }
});

test("a model name that nothing is known by is told once, when the thread is opened", async (t) => {
  const store = newStore(t);
  const events: string[] = [];
  const onEvent = (event: { readonly type: string; readonly model?: string }) =>
    events.push(`${event.type} ${event.model}`);
  await opened(store, { model: "gpt-5", onEvent });
  await opened(store, { model: "gtp-5", onEvent });
  await opened(store, { model: undefined, onEvent });
  assert.deepEqual(events, ["model-unknown gtp-5"]);
});

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { scriptedModel } from "@palimpsest/testing";
import { createAgent } from "../../agent/agent.ts";
import type { AgentEvent } from "../../agent/events.ts";
import { createDeepAgent } from "../../home/create-deep-agent.ts";
import { openSqlite } from "../../stores/sqlite.ts";
import { undo, withWriter } from "../../thread/acts.ts";
import { createThread, threadDeps } from "../../thread/writer.ts";
import { forgetEverywhere } from "./erase-message.ts";
import { fileStorage } from "./file-storage.ts";
import { memory } from "./middleware.ts";
import { createMemoryQueue } from "./queue.ts";
import { blockBudget, givenBlockTokens, openRepository } from "./repository.ts";
import { memoryService } from "./service.ts";
import { createUpdater } from "./updater.ts";

const folder = mkdtempSync(join(tmpdir(), "palimpsest-memory-mw-"));
const queues: { stop(): Promise<void> }[] = [];
after(async () => {
  for (const queue of queues) await queue.stop();
  rmSync(folder, { recursive: true, force: true });
});
const OWN = { userId: "default", agentName: null };
const TEA = '{"additions": [{"content": "User likes green tea", "confidence": 0.92, "quote": "I like green tea"}]}';

test("[F64] the memory block stays the same byte for byte while facts are learned, and a fact of one turn is evidence for the next", async () => {
  const kit = open();
  await kit.service.add(OWN, { content: "User is a baker" });
  await kit.ask("t", "I like green tea");
  kit.extraction = TEA;
  await kit.learn();
  await kit.ask("t", "Which tea should I order?");
  const [first, second] = kit.prompts;
  const block = /<memory>[\s\S]*<\/memory>/.exec(first!.system)?.[0];
  assert.equal(block, "<memory>\n## Key Facts\n- User is a baker (confidence: 1.00)\n</memory>");
  assert.equal(second!.system, first!.system);
  assert.match(
    second!.last,
    /Which tea should I order\?[\s\S]*<evidence>[\s\S]*- User likes green tea \(confidence: 0\.92\)/,
  );
  const injections = kit.events.filter((event) => event.type === "memory-injected").map(({ lane }) => lane);
  assert.deepEqual(injections, ["stable", "evidence"]);
  assert.ok(kit.events.some((event) => event.type === "memory-queued" && event.messages === 2));
});

test("the block is rendered again after a person's edit, at a compaction and after an hour idle", async () => {
  const kit = open();
  await kit.service.add(OWN, { content: "User is a baker" });
  await kit.ask("t", "I like green tea");
  kit.extraction = TEA;
  await kit.learn();
  await kit.ask("t", `hello there friend${", the weather is fine".repeat(100)}`);
  assert.doesNotMatch(kit.prompts.at(-1)!.system, /green tea/);
  kit.time += 61 * 60_000;
  await kit.ask("t", "hello there again");
  assert.match(kit.prompts.at(-1)!.system, /green tea/);
  await kit.service.add(OWN, { content: "User lives in Bergen" });
  await kit.ask("t", "and once more");
  assert.match(kit.prompts.at(-1)!.system, /Bergen/);
  kit.extraction =
    '{"additions": [{"content": "User owns a blue boat", "confidence": 0.9, "quote": "I own a blue boat"}]}';
  await kit.ask("t", "I own a blue boat");
  await kit.learn();
  await kit.agent.compact("t", { keep: { type: "messages", value: 2 } });
  await kit.ask("t", "what now");
  assert.match(kit.prompts.at(-1)!.system, /blue boat/);
});

test("of more facts than the block shows, equally certain, it has those that bear on a thread's first question", async () => {
  const kit = open();
  await kit.service.add(OWN, { content: "User keeps bees in the old orchard" });
  for (let number = 0; number < 20; number += 1) {
    kit.time += 1000;
    await kit.service.add(OWN, { content: `User visited town number ${number}` });
  }
  await kit.ask("other", "Which town was it?");
  assert.doesNotMatch(kit.prompts.at(-1)!.system, /bees/);
  await kit.ask("t", "Where do I keep my bees?");
  assert.match(kit.prompts.at(-1)!.system, /keeps bees/);
  const { system } = kit.prompts.at(-1)!;
  await kit.ask("t", "Which town was it?");
  assert.equal(kit.prompts.at(-1)!.system, system, "later questions don't change it");
});

test("in a small window the block has less, unless it is said how much it may have", () => {
  assert.deepEqual(
    [4_000, 8_000, 32_000, 200_000].map((window) => blockBudget(window)),
    [125, 125, 500, 2_000],
  );
  assert.deepEqual([500, 2_000].map(givenBlockTokens), [500, undefined]);
});

test("for a model that binds its reasoning to the prompt the block stands still when idle, and obeys a person at once", async () => {
  const kit = open("on", { bindsReasoning: true });
  await kit.service.add(OWN, { content: "User is a baker" });
  await kit.ask("t", "I like green tea");
  kit.extraction = TEA;
  await kit.learn();
  kit.time += 61 * 60_000;
  await kit.ask("t", "hello there again");
  assert.doesNotMatch(kit.prompts.at(-1)!.system, /green tea/);
  await kit.service.add(OWN, { content: "User lives in Bergen" });
  await kit.ask("t", "and once more");
  assert.match(kit.prompts.at(-1)!.system, /Bergen/);
});

test("past turns of other threads are evidence too, but not another agent's, another user's, or a thread's without memory", async () => {
  const kit = open();
  await kit.ask("one", "The vault code of the summer house is kept by Ingrid");
  await createThread(kit.deps, { id: "quiet", memory: "off" });
  await kit.ask("quiet", "The vault in the cellar is kept by Olaf");
  await kit.ask("other", "The vault in the attic is kept by Astrid", { agentName: "coder" });
  await kit.ask("ann", "The vault in the barn is kept by Sven", { userId: "ann" });
  await kit.ask("two", "Who keeps the vault code?");
  const { last } = kit.prompts.at(-1)!;
  assert.match(last, /Ingrid/);
  assert.doesNotMatch(last, /Olaf|Astrid|Sven/);
});

test("a turn itself is the evidence, not the fact drawn from it", async () => {
  const kit = open();
  await kit.ask("two", "hello there friend");
  await kit.ask("one", "The vault code of the summer house is kept by Ingrid");
  kit.extraction =
    '{"additions": [{"content": "Ingrid keeps the vault code", "confidence": 0.9, "quote": "The vault code of the summer house is kept by Ingrid"}]}';
  await kit.learn();
  assert.equal((await kit.service.show(OWN)).facts.length, 1);
  await kit.ask("two", "Who keeps the vault code?");
  assert.match(kit.prompts.at(-1)!.last, /user: The vault code of the summer house is kept by Ingrid/);
  assert.doesNotMatch(kit.prompts.at(-1)!.last, /Facts:/);
});

test("a fact that a person corrected wins: neither its source turn nor an answer that gave the old value is evidence", async () => {
  const kit = open();
  await kit.ask("one", "I live in Bergen, near the harbor");
  kit.extraction =
    '{"additions": [{"content": "User lives in Bergen", "confidence": 0.9, "quote": "I live in Bergen, near the harbor"}]}';
  await kit.learn();
  kit.answer = "You live in Bergen.";
  await kit.ask("two", "Where do I live?");
  assert.match(kit.prompts.at(-1)!.last, /Bergen/);
  const [fact] = (await kit.service.show(OWN)).facts;
  kit.time += 60_000;
  await kit.service.edit(OWN, fact!.id, { content: "User lives in Oslo" });
  await kit.ask("three", "Where do I live?");
  const { system, last } = kit.prompts.at(-1)!;
  assert.match(system, /User lives in Oslo/);
  assert.doesNotMatch(`${system}${last}`, /Bergen/);
  assert.equal(last.match(/Where do I live\?/g)?.length, 1, "the same question of before is no evidence");
});

test("recall marks what a correction has superseded, behind what holds now", async (t) => {
  const kit = open();
  await kit.ask("one", "I live in Bergen, near the harbor");
  kit.extraction =
    '{"additions": [{"content": "User lives in Bergen", "confidence": 0.9, "quote": "I live in Bergen, near the harbor"}]}';
  await kit.learn();
  const [fact] = (await kit.service.show(OWN)).facts;
  kit.time += 60_000;
  await kit.service.edit(OWN, fact!.id, { content: "User lives in Oslo" });
  const model = scriptedModel([{ calls: [{ name: "recall", input: { query: "live near the harbor" } }] }, "Oslo."]);
  const agent = createDeepAgent({ model, store: kit.deps.store, memory: memory({ repository: kit.repository }) });
  t.after(() => agent.close());
  const events: AgentEvent[] = [];
  for await (const event of agent.stream({ threadId: "one", prompt: "Look it up: where do I live?" }))
    events.push(event);
  const result = events.find((event) => event.type === "tool-end");
  assert.match(
    String(result?.type === "tool-end" && result.output),
    /^Holds now: User lives in Oslo\n[\s\S]*user \(superseded\): I live in Bergen/,
  );
});

test("a sentence that asks nothing gets no evidence while nothing is hidden", async () => {
  const kit = open();
  await kit.ask("one", "The vault code of the summer house is kept by Ingrid");
  await kit.ask("two", "I like the summer house.");
  assert.doesNotMatch(kit.prompts.at(-1)!.last, /<evidence>/);
  await kit.ask("two", "Who keeps the code of the summer house?");
  assert.match(kit.prompts.at(-1)!.last, /<evidence>[\s\S]*Ingrid/);
});

test("in a small window questions get less evidence, and nothing twice that the prompt still shows", async () => {
  const kit = open("on", { window: 8000 });
  const places = ["lamp room", "north stair", "engine shed", "kitchen", "oil store", "slipway", "watch room", "cellar"];
  const about = (place: string) =>
    `In the ${place} the lighthouse keeper ${"counted the loose bolts again ".repeat(12)}`;
  for (const [number, place] of places.entries()) await kit.ask(`past-${number}`, about(place));
  kit.events.length = 0;
  for (const what of ["counted", "loose", "bolts"]) await kit.ask("now", `What about the lighthouse keeper, ${what}?`);
  const injections = kit.events.filter((event) => event.type === "memory-injected");
  const sizes = injections.map(({ tokens }) => tokens);
  assert.ok(sizes[0]! > 250 && sizes[0]! <= 500, String(sizes));
  assert.ok(
    sizes.slice(1).every((size) => size <= (1000 - sizes[0]!) / 2),
    String(sizes),
  );
  const ids = injections.flatMap((event) => event.ids);
  assert.equal(new Set(ids).size, ids.length, String(ids));
});

test("[F66] a thread with memory off gets nothing and teaches nothing; injection off still teaches", async () => {
  const kit = open();
  await kit.service.add(OWN, { content: "User is a baker" });
  await createThread(kit.deps, { id: "off", memory: "off" });
  await kit.ask("off", "I like green tea, I am a baker");
  assert.doesNotMatch(JSON.stringify(kit.prompts), /memory>|evidence>/);
  assert.deepEqual(await kit.jobs(), []);
  const silent = open("off");
  await silent.service.add(OWN, { content: "User is a baker" });
  await silent.ask("t", "I like green tea, I am a baker");
  assert.doesNotMatch(JSON.stringify(silent.prompts), /memory>|evidence>/);
  assert.deepEqual(await silent.jobs(), ["t"]);
});

test("[F60] what is forgotten leaves the block, the evidence in the prompt and the search for it", async () => {
  const kit = open();
  await kit.ask("t", "I like green tea");
  kit.extraction = TEA;
  await kit.learn();
  await kit.ask("u", "Which tea should I order?");
  assert.match(kit.prompts.at(-1)!.last, /green tea/);
  const [fact] = (await kit.service.show(OWN)).facts;
  const done = await forgetEverywhere({ deps: kit.deps, repository: null, cleanFiles: null }, kit.service, {
    scope: OWN,
    ids: [fact!.id],
    turns: "keep",
  });
  assert.ok(done.kind === "forgotten");
  assert.deepEqual(
    [done.facts.map(({ id }) => id), done.fenced, done.evidence, done.busy],
    [[fact!.id], ["t#3"], ["u"], []],
  );
  await kit.ask("u", "So which tea is it?");
  assert.doesNotMatch(JSON.stringify(kit.prompts.at(-1)), /green tea/);
});

test("a memory that can't be read is reported, and the run goes on without it", async () => {
  const kit = open();
  await kit.service.add(OWN, { content: "User is a baker" });
  writeFileSync(kit.path, '{"facts": [');
  await kit.ask("t", "hello there");
  assert.equal(kit.prompts.length, 1);
  const failed = kit.events.find((event) => event.type === "memory-failed");
  assert.match(failed?.type === "memory-failed" ? failed.reason : "", /moved to/);
});

test("a thread that was taken over while memory was read ends the run: it is not told as trouble with memory", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const clock = () => new Date(Date.UTC(2026, 10, 15));
  const inner = openRepository(fileStorage({ base: join(folder, "taken-over"), storagePath: "memory.json" }), clock);
  await memoryService({ repository: inner, clock, ids: () => "f1" }).add(OWN, { content: "User is a baker" });
  const repository: typeof inner = {
    ...inner,
    async view(scope) {
      const held = await store.acquireLease("t", "thief", 30_000);
      assert.equal(held.kind, "busy");
      // As after a pause longer than the lease.
      const run = { threadId: "t", owner: held.kind === "busy" ? held.owner : "", epoch: 1 };
      await store.releaseLease(run);
      assert.equal((await store.acquireLease("t", "thief", 30_000)).kind, "acquired");
      return inner.view(scope);
    },
  };
  const events: AgentEvent["type"][] = [];
  const agent = createAgent({
    model: scriptedModel(["too late"]),
    store,
    middleware: [memory({ repository })],
    onEvent: ({ type }) => events.push(type),
  });
  t.after(() => agent.close());
  const { end } = await agent.stream({ threadId: "t", prompt: "hello there" }).result;
  assert.equal(end.kind === "failed" && end.code, "lease-lost");
  assert.equal(events.includes("memory-failed"), false);
});

test("a thread that others have written to meanwhile is read again: it is not told as trouble with memory", async () => {
  const kit = open();
  await kit.service.add(OWN, { content: "User is a baker" });
  await kit.ask("t", "I like green tea");
  await kit.ask("t", `hello there friend${", the weather is fine".repeat(100)}`);
  await kit.ask("t", "and again");
  await kit.agent.compact("t", { keep: { type: "messages", value: 2 } });
  assert.equal((await withWriter(kit.deps, "t", (writer) => undo(writer))).kind, "done");
  await kit.service.add(OWN, { content: "User lives in Bergen" });
  await kit.ask("t", "hello there again");
  assert.match(kit.prompts.at(-1)!.system, /Bergen/);
  assert.deepEqual(
    kit.events.filter(({ type }) => type === "memory-failed"),
    [],
  );
});

let count = 0;

function open(
  injection: "on" | "off" = "on",
  model: { readonly window?: number; readonly bindsReasoning?: boolean } = {},
) {
  count += 1;
  const store = openSqlite({ path: ":memory:" });
  const storage = fileStorage({ base: join(folder, String(count)), storagePath: "memory.json" });
  const kit = { time: Date.UTC(2026, 10, 15), extraction: "{}", answer: "Fine." };
  const clock = () => new Date(kit.time);
  const own = threadDeps(store, { clock });
  const repository = openRepository(storage, clock);
  const prompts: { system: string; last: string }[] = [];
  const events: AgentEvent[] = [];
  const scripted = scriptedModel(({ prompt }) => {
    const text = ({ content }: { content: unknown }): string =>
      typeof content === "string"
        ? content
        : (content as { text?: string }[]).map((part) => part.text ?? "").join("\n");
    prompts.push({ system: text(prompt[0]!), last: text(prompt.at(-1)!) });
    return kit.answer;
  });
  const queue = createMemoryQueue(store, { process: (job) => updater.process(job), clock, debounceSeconds: 0 });
  queues.push(queue);
  const agent = createAgent({
    model: scripted,
    store,
    deps: { clock },
    ...model,
    middleware: [memory({ repository, injection, queue })],
    onEvent: (event) => events.push(event),
  });
  const updater = createUpdater({
    store,
    repository,
    clock,
    ids: own.ids,
    emit: () => {},
    settings: { maxFacts: 100, factConfidenceThreshold: 0.7 },
    extract: async () => kit.extraction,
  });
  return Object.assign(kit, {
    agent,
    prompts,
    events,
    repository,
    deps: own,
    path: storage.place(OWN),
    service: memoryService({ repository, clock, ids: own.ids }),
    ask: (threadId: string, prompt: string, who: { agentName?: string; userId?: string } = {}) => {
      kit.time += 60_000;
      return agent.generate({ threadId, prompt, ...who });
    },
    jobs: async () => (await store.outbox.list()).map(({ threadId }) => threadId),
    learn: async () => {
      assert.deepEqual(await queue.drain(10_000), { kind: "drained" });
    },
  });
}

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { liveFacts } from "@palimpsest/core/internal/memory";
import { countTurns, slowClock } from "../../../test/turns.ts";
import { importFile } from "../../import/import-file.ts";
import { openStore } from "../../stores/open.ts";
import { appendMessages, withWriter } from "../../thread/acts.ts";
import { redact } from "../../thread/redact.ts";
import { createThread, threadDeps } from "../../thread/writer.ts";
import { fileStorage } from "./file-storage.ts";
import { memoryJob } from "./queue.ts";
import { openRepository } from "./repository.ts";
import { memoryService } from "./service.ts";
import { type MemoryEvent, memoryLogLine } from "./storage.ts";
import { createUpdater, type Extract } from "./updater.ts";

const folder = mkdtempSync(join(tmpdir(), "palimpsest-updater-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const OWN = { userId: "default", agentName: null };
const TEA =
  '{"additions": [{"content": "User likes tea", "category": "preference", "confidence": 0.92, "quote": "I like tea"}]}';

test("a turn is learned once: the watermark is saved with the facts", async () => {
  const kit = await open();
  await kit.say("I like tea");
  const prompts: string[] = [];
  kit.answer = async (prompt) => {
    prompts.push(prompt);
    return TEA;
  };
  assert.deepEqual(await kit.process(), { kind: "updated", added: 1, changed: 0, refused: [] });
  assert.deepEqual(await kit.process(), { kind: "skipped", reason: "already-read" });
  assert.equal(prompts.length, 1);
  const document = await kit.service.show(OWN);
  assert.deepEqual(document.watermarks, { t: 2 });
  assert.deepEqual(document.facts[0]!.sourceMessageIds, ["t#1"]);
});

test("what a thread of another user teaches is theirs, whatever user the updater's store is opened for", async () => {
  for (const userId of ["default", "auth0|123"]) {
    const kit = await open("on", userId);
    await kit.say("I like tea");
    kit.answer = async () => TEA;
    assert.equal((await kit.process()).kind, "updated");
    const contents = async (name: string) =>
      (await kit.service.show({ userId: name, agentName: null })).facts.map(({ content }) => content);
    assert.deepEqual(await contents(userId), ["User likes tea"], userId);
    assert.deepEqual(await contents(userId === "default" ? "auth0|123" : "default"), []);
  }
});

test("the log says it in the documented words", async () => {
  const kit = await open();
  await kit.say("I like tea, and I am writing a book now");
  kit.answer = async () =>
    `${TEA.slice(0, -1)}, "sections": {"topOfMind": {"text": "Writing a book", "confidence": 0.9}}}`;
  await kit.process();
  assert.deepEqual(kit.events.map(memoryLogLine), [
    "[MemoryUpdater] Processing update for t",
    "[MemoryUpdater] Extracted 1 new fact (confidence: 0.92)",
    "[MemoryUpdater] Updated userContext.topOfMind",
    `[MemoryUpdater] Memory persisted to ${kit.path}`,
  ]);
  assert.equal(
    memoryLogLine({ type: "memory-queued", threadId: "thread-123", messages: 5 }),
    "[MemoryMiddleware] Queued conversation for thread-123 (5 messages)",
  );
  assert.equal(
    memoryLogLine({ type: "memory-debounced", threadId: "thread-123", seconds: 30 }),
    "[MemoryQueue] Debouncing update for thread-123 (30s wait)",
  );
  const three = { type: "memory-extracted", threadId: "t", confidences: [0.85, 0.78, 0.92] } as const;
  assert.equal(memoryLogLine(three), "[MemoryUpdater] Extracted 3 new facts (confidence: 0.85, 0.78, 0.92)");
});

test("a model that fails, hangs or answers something else changes nothing, and the job can be tried again", async () => {
  const kit = await open();
  await kit.say("I like tea");
  const answers: [Extract, string][] = [
    [async () => Promise.reject(new Error("429 too many requests")), "model-failed"],
    [() => new Promise(() => {}), "model-timeout"],
    [async () => "I found no facts worth keeping.", "unreadable-answer"],
    [async () => "", "unreadable-answer"],
    [async () => `[${TEA}]`, "unreadable-answer"],
  ];
  for (const [answer, reason] of answers) {
    kit.answer = answer;
    // Only the one that never answers may run out of time, however slow the machine is.
    kit.timeoutMs = reason === "model-timeout" ? 20 : undefined;
    const outcome = await kit.process();
    assert.equal(outcome.kind === "failed" && outcome.reason, reason);
    assert.equal(kit.events.at(-1)!.type, "memory-failed");
    assert.equal((await kit.service.show(OWN)).revision, undefined);
  }
  kit.answer = async () => TEA;
  assert.equal((await kit.process()).kind, "updated");
});

test("an empty answer is an answer: nothing to remember, and it is not read again", async () => {
  const kit = await open();
  await kit.say("The weather is nice, isn't it");
  kit.answer = async () => "{}";
  assert.deepEqual(await kit.process(), { kind: "updated", added: 0, changed: 0, refused: [] });
  assert.deepEqual(await kit.process(), { kind: "skipped", reason: "already-read" });
});

test("trivial turns call no model", async () => {
  const kit = await open();
  await kit.say("thanks!");
  kit.answer = () => assert.fail("the model was called");
  assert.deepEqual(await kit.process(), { kind: "skipped", reason: "trivial" });
});

test("[F66] a thread with memory off teaches nothing", async () => {
  const kit = await open("off");
  await kit.say("I like tea");
  kit.answer = () => assert.fail("the model was called");
  assert.deepEqual(await kit.process(), { kind: "skipped", reason: "off" });
});

test("[F52] a save by somebody else while the model thinks is kept, and the model is not asked again", async () => {
  const kit = await open();
  await kit.say("I like tea");
  let calls = 0;
  kit.answer = async () => {
    calls += 1;
    await kit.service.add(OWN, { content: "User owns a cat" });
    return TEA;
  };
  assert.equal((await kit.process()).kind, "updated");
  assert.equal(calls, 1);
  assert.deepEqual(
    (await kit.service.show(OWN)).facts.map(({ content }) => content),
    ["User owns a cat", "User likes tea"],
  );
});

test("two workers on one batch learn it once", async () => {
  const kit = await open();
  await kit.say("I like tea");
  let running = 0;
  let release = (): void => {};
  const both = new Promise<void>((resolve) => {
    release = resolve;
  });
  kit.answer = async () => {
    running += 1;
    if (running === 2) release();
    await both;
    return TEA;
  };
  await Promise.all([kit.process(), kit.process()]);
  const document = await kit.service.show(OWN);
  assert.deepEqual([document.facts.length, document.facts[0]!.confirmedAt], [1, undefined]);
});

test("refused proposals are reported with their reasons", async () => {
  const kit = await open();
  await kit.say("please run the tests");
  kit.answer = async () =>
    '{"additions": [{"content": "User owns a yacht", "confidence": 0.9, "quote": "I own a yacht"}]}';
  const outcome = await kit.process();
  assert.deepEqual(outcome.kind === "updated" && outcome.refused, [
    { what: "addition", reason: "no-user-source", text: "User owns a yacht" },
  ]);
  const line = kit.events.map(memoryLogLine).find((said) => said.includes("Refused"));
  assert.equal(line, '[MemoryUpdater] Refused 1 of the update (addition "User owns a yacht": no-user-source)');
});

test("[F60] what was forgotten is not learned again: not from its source turn, not by a job that was already under way", async () => {
  const kit = await open();
  await kit.say("I like tea");
  kit.answer = async () => TEA;
  await kit.process();
  const [fact] = (await kit.service.show(OWN)).facts;
  const forgotten = await kit.service.forget(OWN, [fact!.id]);
  assert.ok(forgotten.kind === "forgotten");
  assert.deepEqual(forgotten.fenced, ["t#1"]);
  assert.deepEqual(await kit.service.search(OWN, "tea"), { kind: "nothing", reason: "no-match" });
  // The same thread read again from its start, as by a job with an older watermark.
  await kit.repository.change(OWN, () => ({ changes: [], also: ({ watermarks, ...rest }) => rest }), "manual");
  assert.deepEqual(await kit.process(), { kind: "skipped", reason: "trivial" });
  await kit.say("so what do I like?");
  await kit.process();
  assert.deepEqual(liveFacts(await kit.service.show(OWN)), []);
});

test("learn, correct, forget, undo: the audit tells the story with its source turns", async () => {
  const kit = await open();
  await kit.say("I like coffee");
  kit.answer = async () =>
    '{"additions": [{"content": "User likes coffee", "confidence": 0.9, "quote": "I like coffee"}]}';
  await kit.process();
  await kit.say("I don't like coffee any more");
  kit.answer = async (prompt) => {
    assert.match(prompt, /1\. User likes coffee/);
    return '{"updates": [{"id": 1, "content": "User doesn\'t like coffee any more", "confidence": 0.9, "quote": "I don\'t like coffee any more"}]}';
  };
  await kit.process();
  const [old, fact] = (await kit.service.show(OWN)).facts;
  assert.equal(old!.supersededBy, fact!.id);
  const forgotten = await kit.service.forget(OWN, [fact!.id]);
  assert.deepEqual(forgotten.kind === "forgotten" && forgotten.facts.map(({ id }) => id), [old!.id, fact!.id]);
  assert.deepEqual((await kit.service.show(OWN)).facts, []);
  assert.equal((await kit.service.undo(OWN)).kind, "undone");
  const back = await kit.service.show(OWN);
  assert.deepEqual(
    liveFacts(back).map(({ content }) => content),
    ["User doesn't like coffee any more"],
  );
  assert.deepEqual(back.fenced, []);
  const story = (await kit.service.history(OWN)).map(({ kind, by, sources }) => [kind, by, sources.join()]);
  assert.deepEqual(story, [
    ["add", "conversation", "t#1"],
    ["add", "conversation", "t#3"],
    ["supersede", "conversation", "t#3"],
    ["forget", "manual", "t#1"],
    ["forget", "manual", "t#3"],
    ["undo", "manual", "t#3"],
    ["undo", "manual", "t#1"],
  ]);
});

test("an erased fact leaves no word in the document, and can't be taken back", async () => {
  const kit = await open();
  const added = await kit.service.add(OWN, { content: "User has a secret twin" });
  assert.ok(added.kind === "added");
  await kit.service.forget(OWN, [added.fact.id], "erase");
  assert.doesNotMatch(JSON.stringify(await kit.repository.read(OWN)), /twin/);
  assert.deepEqual(await kit.service.undo(OWN), { kind: "refused", reason: "erased" });
});

test("a redacted message teaches nothing", async () => {
  const kit = await open();
  await kit.say("I like tea");
  assert.equal((await redact(kit.deps, "t", 1)).kind, "redacted");
  kit.answer = () => assert.fail("the model was called");
  assert.deepEqual(await kit.process(), { kind: "skipped", reason: "trivial" });
});

test("a long conversation is read in batches, each within one call", async () => {
  const kit = await open();
  for (let i = 0; i < 6; i += 1) await kit.say(`I own item${i}. ${"word ".repeat(4000)}`);
  const sizes: number[] = [];
  kit.answer = async (prompt) => {
    sizes.push(prompt.length);
    return "{}";
  };
  await kit.process();
  assert.equal(sizes.length, 3);
  assert.ok(Math.max(...sizes) < 60_000);
});

test("an imported thread teaches only when who imported it said so", async () => {
  for (const memory of ["learn", "skip"] as const) {
    const kit = await open();
    const path = join(folder, `${memory}.jsonl`);
    writeFileSync(path, '{"role":"user","content":"I like tea"}\n{"role":"assistant","content":"I see."}\n');
    await importFile(kit.deps, path, { threadId: memory, onInvalid: "refuse", memory });
    kit.answer = async () => TEA;
    const outcome = await kit.process(memory);
    assert.equal(outcome.kind === "updated" ? outcome.added : outcome.reason, memory === "learn" ? 1 : "trivial");
  }
});

test("a confidence that is no share is brought within 0 and 1, also where a person or program adds it [F65]", async () => {
  const kit = await open();
  for (const [confidence, kept] of [
    [7, 1],
    [-1, 0],
    [Number.NaN, 0],
  ] as const) {
    const added = await kit.service.add(OWN, { content: `User owns ${confidence} cats`, confidence });
    assert.equal(added.kind === "added" && added.fact.confidence, kept);
  }
});

test("import adds what is new, keeps what is there and redacts; export has no audit", async () => {
  const kit = await open();
  await kit.service.add(OWN, { content: "User likes tea" });
  const file = {
    user: { workContext: { summary: "Baker" } },
    facts: [
      { id: "fact_1", content: "User likes tea", confidence: 0.9 },
      { id: "fact_2", content: "Key is sk-proj-abcdefghijklmnop1234", confidence: 0.8 },
    ],
  };
  const imported = await kit.service.import(OWN, file);
  assert.deepEqual(imported, { kind: "imported", facts: 1, known: 1, sections: 1, notes: [] });
  assert.deepEqual(await kit.service.import(OWN, file), {
    kind: "imported",
    facts: 0,
    known: 2,
    sections: 0,
    notes: [],
  });
  const document = await kit.service.export(OWN);
  assert.equal(document.userContext.workContext, "Baker");
  assert.doesNotMatch(JSON.stringify(document), /abcdefghijkl|changes/);
  assert.equal((await kit.service.import(OWN, [])).kind, "unreadable");
  for (const other of [{}, { a: 1 }])
    assert.deepEqual(await kit.service.import(OWN, other), {
      kind: "unreadable",
      reason: "it has neither facts nor sections",
    });
});

test("imports bring a memory to 2,000 facts at most, and what is known already counts once", async () => {
  const kit = await open();
  const facts = (from: number, to: number) => ({
    facts: Array.from({ length: to - from }, (_, at) => ({
      id: `f${from + at}`,
      content: `User owns boat ${from + at}`,
    })),
  });
  const refused = async (value: object) => {
    const result = await kit.service.import(OWN, value);
    return result.kind === "unreadable" && /to (\d+) facts, and an import makes/.exec(result.reason)?.[1];
  };
  assert.equal(await refused(facts(0, 2001)), "2001");
  assert.equal((await kit.service.import(OWN, facts(0, 1500))).kind, "imported");
  assert.equal(await refused(facts(1000, 2100)), "2100");
  const rest = await kit.service.import(OWN, facts(1000, 2000));
  assert.deepEqual(rest.kind === "imported" && [rest.facts, rest.known], [500, 500]);
  assert.equal((await kit.service.export(OWN)).facts.length, 2000);
});

test("the facts of an import are read in turns, and a fact that is longer than any other may be is refused", async (t) => {
  const kit = await open();
  slowClock(t);
  const turns = countTurns(t);
  const fact = (content: string, at = 0) => ({ id: `f${at}`, content });
  const facts = Array.from({ length: 50 }, (_, at) => fact(`User owns boat ${at}`, at));
  assert.equal((await kit.service.import(OWN, { facts })).kind, "imported");
  assert.ok(turns() >= facts.length, `${turns()}`);
  assert.deepEqual(await kit.service.import(OWN, { facts: [fact("short"), fact("boat ".repeat(101))] }), {
    kind: "unreadable",
    reason: "its fact 2 has more than 500 characters",
  });
});

let count = 0;

async function open(memory: "on" | "off" = "on", userId = "default") {
  count += 1;
  const base = join(folder, String(count));
  const opened = await openStore(":memory:");
  const store = opened.forUser(userId);
  const own = threadDeps(store);
  await createThread(own, { id: "t", memory });
  const storage = fileStorage({ base, storagePath: "memory.json" });
  const repository = openRepository(storage, own.clock);
  const events: MemoryEvent[] = [];
  const kit = {
    deps: own,
    repository,
    events,
    path: storage.place(OWN),
    service: memoryService({ repository, clock: own.clock, ids: own.ids }),
    answer: (async () => "{}") as Extract,
    timeoutMs: undefined as number | undefined,
    async say(text: string) {
      const messages = [
        { dialect: "openai", origin: "user", body: { role: "user", content: text } },
        { dialect: "openai", origin: "model", body: { role: "assistant", content: "I see." } },
      ] as const;
      const held = await withWriter(own, "t", (writer) => appendMessages(writer, messages));
      assert.equal(held.kind, "done");
    },
    async process(threadId = "t") {
      const updater = createUpdater({
        store: opened,
        repository,
        clock: own.clock,
        ids: own.ids,
        ...(kit.timeoutMs === undefined ? {} : { timeoutMs: kit.timeoutMs }),
        extract: (...given) => kit.answer(...given),
        settings: { maxFacts: 100, factConfidenceThreshold: 0.7 },
        emit: (event) => events.push(event),
      });
      return updater.process(
        memoryJob({ userId, threadId, agentName: "default", throughSeq: (await store.head(threadId))!.version }),
      );
    },
  };
  return kit;
}

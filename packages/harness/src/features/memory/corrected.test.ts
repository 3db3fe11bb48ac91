// A correction wins over every turn that still says the old value, whoever corrected it, wherever it was said and for every agent that reads it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptedModel } from "@palimpsest/testing";
import fc from "fast-check";
import { createDeepAgent } from "../../home/create-deep-agent.ts";
import { openSqlite } from "../../stores/sqlite.ts";
import { storeStorage } from "./create-memory.ts";
import { memory } from "./middleware.ts";
import type { ScopeName } from "./repository.ts";
import { openRepository } from "./repository.ts";
import { memoryService } from "./service.ts";

const OWN: ScopeName = { userId: "default", agentName: null };

interface Case {
  readonly title: string;
  readonly agentName?: string;
  /** Said before the correction: a user's words and the answer. */
  readonly turns: readonly (readonly [words: string, answer: string])[];
  readonly question: string;
  readonly correct: (kit: ReturnType<typeof open>, id: string) => Promise<unknown>;
  readonly now: RegExp | null;
}

const LIVES = "User lives in Bergen";
const edit = (kit: ReturnType<typeof open>, id: string) => kit.service.edit(OWN, id, { content: "User lives in Oslo" });
const forget = (kit: ReturnType<typeof open>, id: string) => kit.service.forget(OWN, [id]);

const CASES: readonly Case[] = [
  {
    title: "the turn that said it",
    turns: [["My name is Ada and I live in Bergen.", "Hello Ada."]],
    question: "Where do I live?",
    correct: edit,
    now: /User lives in Oslo/,
  },
  {
    title: "an answer that repeated it",
    turns: [
      ["I live in Bergen.", "Noted: you live in Bergen."],
      ["Where do I live?", "You live in Bergen."],
    ],
    question: "Where do I live?",
    correct: edit,
    now: /User lives in Oslo/,
  },
  {
    title: "an answer of one word",
    turns: [["Tell me where I live, in one word.", "Bergen."]],
    question: "In one word, where do I live?",
    correct: edit,
    now: /User lives in Oslo/,
  },
  {
    title: "an answer that rested on it",
    turns: [["Which ferry is near?", "The ferry from the pier in Bergen."]],
    question: "Which ferry was it, the one from the pier?",
    correct: edit,
    now: null,
  },
  {
    title: "a fact that was forgotten",
    turns: [["Where do I live?", "You live in Bergen."]],
    question: "Where do I live?",
    correct: forget,
    now: null,
  },
  {
    title: "a correction of the user's memory, for an agent that reads it as its own",
    agentName: "coder",
    turns: [["Where do I live?", "You live in Bergen."]],
    question: "Where do I live?",
    correct: edit,
    now: /User lives in Oslo/,
  },
  {
    title: "a correction of the user's memory from before an agent's own copy",
    agentName: "coder",
    turns: [["Where do I live?", "You live in Bergen."]],
    question: "Where do I live?",
    correct: async (kit, id) => {
      await edit(kit, id);
      await kit.service.add({ userId: "default", agentName: "coder" }, { content: "User writes Rust" });
    },
    now: /User lives in Oslo/,
  },
];

for (const { title, agentName, turns, question, correct, now } of CASES)
  test(`corrected: ${title}`, async () => {
    const kit = open();
    const fact = await kit.service.add(OWN, { content: LIVES });
    assert.ok(fact.kind === "added");
    for (const [at, [words, answer]] of turns.entries()) await kit.ask(`past-${at}`, words, { answer, agentName });
    assert.match(
      (await kit.ask("check", question, { agentName })) ?? "",
      /Bergen/,
      "it is shown before the correction",
    );
    kit.time += 60_000;
    await correct(kit, fact.fact.id);
    const sent = await kit.ask("now", question, { agentName });
    assert.doesNotMatch(sent, /Bergen/);
    if (now !== null) assert.match(sent, now);
    await kit.close();
  });

test("corrected: evidence that a thread has shown before leaves its prompt", async () => {
  const kit = open();
  const fact = await kit.service.add(OWN, { content: LIVES });
  assert.ok(fact.kind === "added");
  await kit.ask("past", "I live in Bergen, near the harbor.", { answer: "Noted: you live in Bergen." });
  assert.match(await kit.ask("same", "Where do I live?"), /<evidence>[\s\S]*Bergen/);
  kit.time += 60_000;
  await edit(kit, fact.fact.id);
  const sent = await kit.ask("same", "And where do I live now?");
  assert.doesNotMatch(sent, /Bergen/);
  assert.match(sent, /User lives in Oslo/);
  await kit.close();
});

test("corrected: what the conversation itself says is marked beside the question", async () => {
  const kit = open();
  const fact = await kit.service.add(OWN, { content: LIVES });
  assert.ok(fact.kind === "added");
  await kit.ask("same", "I live in Bergen, near the harbor.");
  kit.time += 60_000;
  await edit(kit, fact.fact.id);
  const sent = await kit.ask("same", "Where do I live?");
  assert.match(sent, /<evidence>[^<]*User lives in Oslo \(holds now; this conversation says otherwise above\)/);
  assert.equal(sent.split("Bergen").length - 1, 1);
  assert.doesNotMatch(await kit.ask("other", "Where do I live?"), /says otherwise/);
  await kit.close();
});

test("a user who says it again after the correction is heard", async () => {
  const kit = open();
  const fact = await kit.service.add(OWN, { content: LIVES });
  assert.ok(fact.kind === "added");
  kit.time += 60_000;
  await edit(kit, fact.fact.id);
  await kit.ask("later", "I moved: I live in Bergen again.");
  assert.match(await kit.ask("now", "Where do I live?"), /<evidence>[\s\S]*I live in Bergen again/);
  await kit.close();
});

test("an answer that only repeats a remembered fact or a user's words is no evidence, and one that says more is", async () => {
  const kit = open();
  await kit.service.add(OWN, { content: "User lives in Oslo" });
  await kit.ask("past-0", "My dog Rex is four.", { answer: "You said: your dog Rex is four." });
  await kit.ask("past-1", "Where do I live?", { answer: '[offline] I remember: "User lives in Oslo"' });
  await kit.ask("past-2", "Where exactly do I live?", { answer: "You don't live in Oslo's center." });
  const sent = await kit.ask("now", "Where do I live, and how old is my dog Rex?");
  assert.match(sent, /My dog Rex is four/);
  assert.doesNotMatch(sent, /I remember|You said/);
  assert.match(sent, /live in Oslo's center/);
  await kit.close();
});

test("of any number of corrections only the last value is shown", async () => {
  const city = fc.uniqueArray(fc.constantFrom("Bergen", "Oslo", "Rome", "Paris", "Vienna", "Lima"), {
    minLength: 2,
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(city, fc.constantFrom("one word", "a sentence"), async (cities, form) => {
      const kit = open();
      const [first, ...rest] = cities;
      const fact = await kit.service.add(OWN, { content: `User lives in ${first}` });
      assert.ok(fact.kind === "added");
      for (const [at, next] of [...rest, null].entries()) {
        const answer = form === "one word" ? `${cities[at]}.` : `You live in ${cities[at]}.`;
        await kit.ask(`t${at}`, `Where do I live? (${at})`, { answer });
        kit.time += 60_000;
        if (next !== null) await kit.service.edit(OWN, fact.fact.id, { content: `User lives in ${next}` });
      }
      const sent = await kit.ask("now", "Where do I live?");
      for (const old of cities.slice(0, -1)) assert.ok(!sent.includes(old), `${old} in ${sent}`);
      assert.ok(sent.includes(cities.at(-1)!));
      await kit.close();
    }),
    { numRuns: 8 },
  );
});

function open() {
  const store = openSqlite({ path: ":memory:" });
  const kit = { time: Date.UTC(2026, 10, 15) };
  const clock = () => new Date(kit.time);
  const repository = openRepository(storeStorage(store, "sqlite"), clock);
  let answer = "Fine.";
  const model = scriptedModel(() => answer);
  const agent = createDeepAgent({
    model,
    store,
    deps: { clock },
    title: false,
    subagents: false,
    memory: memory({ repository }),
  });
  let ids = 0;
  return Object.assign(kit, {
    service: memoryService({ repository, clock, ids: () => `f${++ids}` }),
    /** What was sent, as text. */
    async ask(
      threadId: string,
      prompt: string,
      { answer: next = "Fine.", agentName }: { readonly answer?: string; readonly agentName?: string | undefined } = {},
    ): Promise<string> {
      kit.time += 60_000;
      answer = next;
      await agent.generate({ threadId, prompt, ...(agentName !== undefined && { agentName }) });
      return JSON.stringify(model.calls.at(-1)!.prompt);
    },
    async close() {
      await agent.close();
      await store.close();
    },
  });
}

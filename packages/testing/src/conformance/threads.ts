/**
 * What everything that keeps a conversation in a thread must do, as one suite: an agent, `openThread`, adapters. Each says
 * how it has words answered by a model; the suite plays the model, as strict as a provider, and looks at the log. What
 * the planner and the store promise is tested with them, not here.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { parseHeader, type UsageRecord } from "@palimpsest/core/internal/log";
import { fork, replay, undo, withWriter } from "palimpsest/internal/threads";
import { searchThread, threadDeps, threadPrompt, verify } from "palimpsest/session";
import { openSqlite, type Store } from "palimpsest/stores";

export interface ThreadUserOptions {
  readonly store: Store;
  /** The store's file, for who opens it by its address. */
  readonly path: string;
  readonly threadId: string;
  /** The model's window in tokens, of four characters each. */
  readonly window: number;
  /** The model: what it is sent as texts, system prompt first. Throws as a provider's client does when that is too long. */
  readonly model: (sent: readonly SentText[]) => PlayedReply;
}

export interface SentText {
  readonly role: string;
  readonly text: string;
}

export interface PlayedReply {
  readonly text: string;
  readonly usage: { readonly input: number; readonly output: number };
}

export interface ThreadUser {
  /** Resolves when the words and their answer are in the log; rejects when the thread can't be had. Waits for no lease. */
  say(words: string): Promise<void>;
  /** A compaction now. */
  compact(): Promise<void>;
  close(): Promise<void>;
}

/** `append` is part of every case: it can't be left out. */
export type ThreadCase = "report" | "recover" | "compact" | "undo" | "fork" | "lease" | "reopen";

export interface ThreadConformance {
  readonly open: (options: ThreadUserOptions) => Promise<ThreadUser>;
  /** Cases that don't apply, each with its reason. */
  readonly skip?: Readonly<Partial<Record<ThreadCase, string>>>;
}

interface Scene {
  readonly store: Store;
  readonly model: StrictModel;
  /** Of the thread `t`. */
  readonly user: ThreadUser;
  readonly opened: (threadId?: string) => Promise<ThreadUser>;
}

export function threadConformance(name: string, { open, skip = {} }: ThreadConformance): void {
  const setUp = async (t: TestContext, window: number): Promise<Scene> => {
    const folder = mkdtempSync(join(tmpdir(), "palimpsest-threads-"));
    const path = join(folder, "log.db");
    const store = openSqlite({ path });
    const model = new StrictModel(window);
    const users: ThreadUser[] = [];
    t.after(async () => {
      for (const user of users) await user.close();
      await store.close();
      rmSync(folder, { recursive: true });
    });
    const opened = async (threadId = "t"): Promise<ThreadUser> => {
      const user = await open({ store, path, threadId, window, model: (sent) => model.answer(sent) });
      users.push(user);
      return user;
    };
    return { store, model, user: await opened(), opened };
  };
  describe(`a thread under ${name}`, () => {
    for (const { name: one, title, window, check } of cases()) {
      const reason = one === null ? undefined : skip[one];
      test(title, reason === undefined ? {} : { skip: reason }, async (t) => check(await setUp(t, window)));
    }
  });
}

interface Case {
  /** By which it is left out; null: it can't be. */
  readonly name: ThreadCase | null;
  readonly title: string;
  readonly window: number;
  readonly check: (scene: Scene) => Promise<void>;
}

const cases = (): readonly Case[] => [
  {
    name: null,
    title: "append and prompt: what is said stands in the log once and in order, and the model is sent all of it",
    window: ROOMY,
    check: saysAndSends,
  },
  {
    name: null,
    title: "prompt: however long it gets, no request is refused, each ends with what was said, and nothing is lost",
    window: TIGHT,
    check: staysInside,
  },
  {
    name: "report",
    title: "report: each answer is written with what the provider counted, and the next count is anchored on it",
    window: ROOMY,
    check: reports,
  },
  {
    name: "recover",
    title: "recover: a request that is refused for its length is sent again, shorter, and the words are written once",
    window: ROOMY,
    check: recovers,
  },
  {
    name: "compact",
    title: "compact: the model is sent less, the log keeps everything, and what is hidden is found",
    window: ROOMY,
    check: compacts,
  },
  { name: "undo", title: "undo: the model is sent everything again", window: ROOMY, check: takesBack },
  {
    name: "fork",
    title: "fork: it begins with what was said until then, and what is said in it stays in it",
    window: ROOMY,
    check: forks,
  },
  {
    name: "lease",
    title: "lease: while somebody else holds the thread nothing is written to it; then it goes on",
    window: ROOMY,
    check: waitsForLease,
  },
  {
    name: "reopen",
    title: "reopen: whoever opens the thread next sends what was said before",
    window: ROOMY,
    check: reopens,
  },
];

async function saysAndSends({ store, model, user }: Scene): Promise<void> {
  for (let turn = 1; turn <= 3; turn += 1) await user.say(question(turn));
  assert.deepEqual(await wordsIn(store), turns(3));
  const sent = (model.sent.at(-1) ?? []).filter(({ role }) => role === "user" || role === "assistant");
  assert.deepEqual(
    sent.map(({ text }) => firstWord(text)),
    turns(3).slice(0, -1),
  );
}

async function staysInside({ store, model, user }: Scene): Promise<void> {
  for (let turn = 1; turn <= MANY; turn += 1) {
    await user.say(question(turn));
    assert.equal(firstWord(model.sent.at(-1)?.at(-1)?.text ?? ""), `question-${turn}`);
  }
  assert.equal(model.refusals, 0);
  assert.deepEqual(await wordsIn(store), turns(MANY));
  assert.notEqual((await store.head("t"))?.compaction ?? null, null);
}

async function reports({ store, user }: Scene): Promise<void> {
  for (let turn = 1; turn <= 3; turn += 1) await user.say(question(turn));
  const reports = await reportsIn(store);
  assert.equal(reports.length, 3);
  assert.ok(
    reports.every(({ flaw, input }) => flaw == null && input > 0),
    JSON.stringify(reports),
  );
  const prompt = await threadPrompt(store, "t");
  assert.ok(prompt.kind === "prompt");
  assert.notEqual(prompt.count.source, "estimated");
}

async function recovers({ store, model, user }: Scene): Promise<void> {
  for (let turn = 1; turn <= MANY; turn += 1) await user.say(question(turn));
  const before = tokensOf(model.sent.at(-1) ?? []);
  model.refuse();
  await user.say(question(MANY + 1));
  assert.equal(model.refusals, 1);
  assert.ok(tokensOf(model.sent.at(-1) ?? []) < before);
  assert.deepEqual(await wordsIn(store), turns(MANY + 1));
}

async function compacts({ store, model, user }: Scene): Promise<void> {
  for (let turn = 1; turn <= MANY; turn += 1) await user.say(question(turn));
  const before = tokensOf(model.sent.at(-1) ?? []);
  await user.compact();
  await user.say(question(MANY + 1));
  assert.ok(tokensOf(model.sent.at(-1) ?? []) < before);
  assert.deepEqual(await wordsIn(store), turns(MANY + 1));
  assert.equal((await searchThread(store, "t", "question-2")).kind, "found");
}

async function takesBack({ store, model, user }: Scene): Promise<void> {
  for (let turn = 1; turn <= MANY; turn += 1) await user.say(question(turn));
  await user.compact();
  const taken = await withWriter(threadDeps(store), "t", (writer) => undo(writer));
  assert.ok(taken.kind === "done" && taken.value.kind === "undone", JSON.stringify(taken));
  await user.say(question(MANY + 1));
  const words = (model.sent.at(-1) ?? []).map(({ text }) => firstWord(text));
  for (const said of turns(MANY)) assert.ok(words.includes(said), said);
}

async function forks({ store, model, user, opened }: Scene): Promise<void> {
  await user.say(question(1));
  const forked = await fork(threadDeps(store), "t", { as: "t-fork" });
  assert.equal(forked.kind, "forked");
  const other = await opened("t-fork");
  await other.say(question(2));
  assert.ok((model.sent.at(-1) ?? []).some(({ text }) => firstWord(text) === "question-1"));
  assert.deepEqual(await wordsIn(store), turns(1));
  assert.deepEqual(await wordsIn(store, "t-fork"), ["question-1", "answer-1", "question-2", "answer-2"]);
}

async function waitsForLease({ store, user }: Scene): Promise<void> {
  await user.say(question(1));
  const held = await store.acquireLease("t", "somebody else", 60_000);
  assert.ok(held.kind === "acquired");
  await assert.rejects(user.say(question(2)));
  assert.deepEqual(await wordsIn(store), turns(1));
  await store.releaseLease(held.lease);
  await user.say("question-3 again");
  assert.equal((await wordsIn(store)).filter((word) => word === "question-3").length, 1);
}

async function reopens({ store, model, user, opened }: Scene): Promise<void> {
  await user.say(question(1));
  const next = await opened();
  await next.say(question(2));
  assert.ok((model.sent.at(-1) ?? []).some(({ text }) => firstWord(text) === "question-1"));
  assert.deepEqual(await wordsIn(store), turns(2));
}

const ROOMY = 32_000;
const TIGHT = 4000;
const MANY = 24;

const question = (turn: number): string => `question-${turn} ${"how deep is it at the buoy? ".repeat(12)}`;
const firstWord = (text: string): string => text.split(" ", 1)[0] ?? "";
const turns = (many: number): string[] =>
  Array.from({ length: many }, (_, index) => [`question-${index + 1}`, `answer-${index + 1}`]).flat();

function tokensOf(sent: readonly SentText[]): number {
  return sent.reduce((sum, { text }) => sum + Math.ceil(text.length / 4) + 4, 0);
}

/** Answers in turn, counts four characters to a token, and refuses what is longer than its window. */
class StrictModel {
  readonly sent: (readonly SentText[])[] = [];
  refusals = 0;
  readonly #window: number;
  #refuses = false;

  constructor(window: number) {
    this.#window = window;
  }

  /** The next request is too long, however long it is. */
  refuse(): void {
    this.#refuses = true;
  }

  answer(sent: readonly SentText[]): PlayedReply {
    const input = tokensOf(sent);
    if (this.#refuses || input > this.#window) {
      this.#refuses = false;
      this.refusals += 1;
      throw tooLong(input);
    }
    this.sent.push(sent);
    const text = `answer-${this.sent.length} ${"four fathoms, sand and shell. ".repeat(12)}`;
    return { text, usage: { input, output: Math.ceil(text.length / 4) } };
  }
}

function tooLong(tokens: number): Error {
  const message = `400 This model's maximum context length is ${Math.floor(tokens / 2)} tokens. However, your messages resulted in ${tokens} tokens.`;
  return Object.assign(new Error(message), { status: 400, statusCode: 400, code: "context_length_exceeded" });
}

/** The first words of everything said, in order; the log is whole. */
async function wordsIn(store: Store, threadId = "t"): Promise<string[]> {
  assert.equal((await verify(threadDeps(store), threadId)).kind, "whole");
  const words: string[] = [];
  for await (const { body } of replay({ store }, threadId)) {
    const word = /(?:question|answer)-\d+/.exec(body)?.[0];
    if (word !== undefined) words.push(word);
  }
  return words;
}

async function reportsIn(store: Store): Promise<readonly UsageRecord[]> {
  const reports: UsageRecord[] = [];
  for await (const { record, chained } of store.records("t", { kinds: ["usage"] })) {
    assert.equal(parseHeader(chained).kind, "usage");
    if (record.kind === "usage") reports.push(record);
  }
  return reports;
}

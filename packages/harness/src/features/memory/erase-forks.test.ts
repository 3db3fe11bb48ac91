// Lookups show several messages at once, and forks share the records of their parents: what is erased must reach all that
// repeats the message, nothing else, and leave every log whole.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readStored } from "@palimpsest/core/internal/message";
import { freshThread, writerOf } from "@palimpsest/testing/internal/kit";
import fc from "fast-check";
import { openSqlite } from "../../stores/sqlite.ts";
import type { Store } from "../../stores/store.ts";
import { appendMessages, fork, type NewMessage } from "../../thread/acts.ts";
import { rebuildHead, verify } from "../../thread/audit.ts";
import { eraseFacts, messageTexts } from "../../thread/redact.ts";
import { commit, type ThreadDeps } from "../../thread/writer.ts";
import { eraseMessage } from "./erase-message.ts";

const SAID = [
  "The bridge over the lake opens in 1932.",
  "My dog Rex is seven years old and likes cheese.",
  "Never push to the main branch without asking me.",
  "The harbor fee is four coins for each small boat.",
] as const;

const words = fc.constantFrom(...SAID);
const act = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("say" as const), words }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("look-up" as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("note" as const), words }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("title" as const), words }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("fork" as const), at: fc.nat(20) }) },
);
const steps = fc.array(fc.record({ act, thread: fc.nat(9) }), { minLength: 6, maxLength: 24 });
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

test("after lookups and in whichever fork, only a redacted message's own words go, and every log is whole", async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.nat(), async (given, picked) => {
      const { deps, threads } = await played(given);
      const { store } = deps;
      const before = await everything(store, threads);
      const notes = new Map<string, string[]>();
      for (const threadId of threads) notes.set(threadId, await noted(store, threadId));
      const said = before.filter(({ role }) => role === "user");
      const target = said[picked % said.length];
      if (target === undefined) return store.close();

      const outcome = await eraseMessage({ deps, repository: null, cleanFiles: null }, target.threadId, target.seq);

      assert.ok(outcome.kind === "redacted");
      const holders = new Set(outcome.threads);
      const isTarget = ({ threadId, seq }: Message) => holders.has(threadId) && seq === target.seq;
      const after = await everything(store, threads);
      for (const one of before.filter((message) => message.role === "user" && !isTarget(message)))
        assert.ok(
          after.some((other) => other.threadId === one.threadId && other.seq === one.seq && other.text === one.text),
        );
      const shown = after.filter((one) => holders.has(one.threadId) && one.seq >= target.seq && one.role !== "user");
      assert.ok(shown.every(({ text }) => !text.includes(`\n${target.seq} user: `) && !text.includes(target.text)));
      for (const threadId of threads) {
        await assertWhole(deps, threadId);
        const left = await noted(store, threadId);
        const others = (list: string[]): string[] => list.filter((one) => one !== "[redacted]" && one !== target.text);
        assert.deepEqual(others(left), others(notes.get(threadId)!));
        if (holders.has(threadId)) assert.ok(!left.includes(target.text));
      }
      await store.close();
    }),
    { numRuns: 150 },
  );
});

test("a fact that is erased leaves the notes of every thread and fork, and every log is whole", async () => {
  await fc.assert(
    fc.asyncProperty(steps, words, async (given, content) => {
      const { deps, threads } = await played(given);
      await eraseFacts(deps, { names: new Set(), texts: [content], blocks: "named" });
      for (const threadId of threads) {
        await assertWhole(deps, threadId);
        assert.ok(!(await noted(deps.store, threadId)).includes(content));
      }
      await deps.store.close();
    }),
    { numRuns: 100 },
  );
});

async function played(given: readonly { readonly act: Act; readonly thread: number }[]) {
  const store = openSqlite({ path: ":memory:" });
  const { lease, ...deps } = await freshThread(store);
  await store.releaseLease(lease);
  const threads = [lease.threadId];
  for (const { act: one, thread } of given) await play(deps, threads, threads[thread % threads.length]!, one);
  return { deps, threads };
}

async function assertWhole(deps: ThreadDeps, threadId: string): Promise<void> {
  assert.equal((await verify(deps, threadId)).kind, "whole", `${threadId} is whole`);
  assert.equal((await rebuildHead(deps, threadId)).kind, "equal", `the head of ${threadId} is its log's`);
}

async function play(deps: ThreadDeps, threads: string[], threadId: string, { kind, ...given }: Act): Promise<void> {
  const { store } = deps;
  if (kind === "fork") {
    const { version } = (await store.head(threadId))!;
    const as = `${threads[0]}-${threads.length}`;
    if (version === 0) return;
    await fork(deps, threadId, { as, at: 1 + ((given as { at: number }).at % version) });
    threads.push(as);
    return;
  }
  const writer = await writerOf(deps, threadId);
  if (kind === "look-up") await appendMessages(writer, await lookUp(store, threadId));
  else {
    const { words: text } = given as { words: string };
    const { todos } = (await store.head(threadId))!.state;
    const notes = Array.isArray(todos) ? todos : [];
    if (kind === "say") await appendMessages(writer, [message("user", { content: text })]);
    else
      await commit(writer, [
        { kind: "state", patch: kind === "title" ? { title: text } : { todos: [...notes, text] } },
      ]);
  }
  await store.releaseLease(writer.lease);
}

/** A call that reads all that was said, and its result. */
async function lookUp(store: Store, threadId: string): Promise<NewMessage[]> {
  const said = (await everything(store, [threadId])).filter(({ role }) => role === "user");
  const shown = said.map(({ seq, text }) => `${seq} user: ${text}`).join("\n");
  const call = { id: "c1", type: "function", function: { name: "recall_read", arguments: "{}" } };
  return [
    message("assistant", { content: null, tool_calls: [call] }),
    message("tool", { tool_call_id: "c1", content: `Found:\n${shown}` }),
  ];
}

function message(role: "user" | "assistant" | "tool", body: object): NewMessage {
  const origin = ({ user: "user", assistant: "model", tool: "tool" } as const)[role];
  return { dialect: "openai", origin, body: { role, ...body } };
}

interface Message {
  readonly threadId: string;
  readonly seq: number;
  readonly role: string;
  readonly text: string;
}

async function everything(store: Store, threads: readonly string[]): Promise<Message[]> {
  const all: Message[] = [];
  for (const threadId of threads) {
    for await (const { record } of store.records(threadId, { kinds: ["message"] })) {
      if (record.kind !== "message") continue;
      const { shape, message: stored } = readStored(record);
      all.push({ threadId, seq: record.seq, role: shape.role(stored), text: messageTexts(record).join("\n") });
    }
  }
  return all;
}

/** What the thread's state says: its title and its notes. */
async function noted(store: Store, threadId: string): Promise<string[]> {
  const { title, todos } = (await store.head(threadId))!.state;
  return [title, ...(Array.isArray(todos) ? todos : [])].filter((one) => typeof one === "string");
}

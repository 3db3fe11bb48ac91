// Long imports and reads leave the event loop to others now and then, and end when nobody waits for them any more.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openSqlite } from "../stores/index.ts";
import type { Store } from "../stores/store.ts";
import { threadDeps } from "../thread/writer.ts";
import { importFile } from "./import-file.ts";

const MESSAGES = 12_000;
const BYTES = Buffer.from(`${JSON.stringify({ role: "user", content: "one of many lines" })}\n`.repeat(MESSAGES));

function opened(t: TestContext): Store {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  return store;
}

/** A clock that moves ten milliseconds each time it is read, so that a fast machine takes its turns as a slow one does. */
function slowClock(t: TestContext): void {
  let ms = performance.now();
  t.mock.method(performance, "now", () => {
    ms += 10;
    return ms;
  });
}

/** Turns of the event loop that others get while the work runs. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isDone = true;
  return turns;
}

function imported(store: Store, signal?: AbortSignal) {
  const options = {
    threadId: "t",
    bytes: BYTES,
    onInvalid: "refuse",
    recordsAtOnce: 1000,
    ...(signal && { signal }),
  } as const;
  return importFile(threadDeps(store), "many.jsonl", options);
}

test("others get their turns while a file of many messages is imported, and while it is read back", async (t) => {
  slowClock(t);
  const store = opened(t);
  const importing = await turnsDuring(async () => assert.equal((await imported(store)).kind, "imported"));
  assert.ok(importing > 10, `${importing}`);
  const reading = await turnsDuring(async () => {
    let messages = 0;
    for await (const _ of store.records("t", { kinds: ["message"] })) messages += 1;
    assert.equal(messages, MESSAGES);
  });
  assert.ok(reading > 1, `${reading}`);
});

test("an import ends soon after its signal, and the same import goes on where it ended", async (t) => {
  slowClock(t);
  const store = opened(t);
  const left = new AbortController();
  const running = imported(store, left.signal);
  const leaving = async (): Promise<void> => {
    // Something of it is written.
    while (((await store.head("t"))?.messages ?? 0) === 0) await new Promise((resolve) => setImmediate(resolve));
    left.abort(new Error("left"));
  };
  await Promise.all([assert.rejects(running, /left/), leaving()]);
  const { messages: written } = (await store.head("t"))!;
  assert.ok(written > 0 && written < MESSAGES, `${written}`);
  assert.equal((await imported(store)).kind, "imported");
  assert.equal((await store.head("t"))!.messages, MESSAGES);
});

test("whoever counts the messages of a file may refuse it before anything is written", async (t) => {
  const store = opened(t);
  const refusing = importFile(threadDeps(store), "many.jsonl", {
    threadId: "t",
    bytes: BYTES,
    onInvalid: "refuse",
    onMessages(messages) {
      if (messages > 8000) throw new Error("too many");
    },
  });
  await assert.rejects(refusing, /too many/);
  assert.equal(await store.head("t"), undefined);
});

test("others get their turns between the threads of a conversation with very many branches", async (t) => {
  slowClock(t);
  const store = opened(t);
  const branches = 400;
  const seen = { steps: 0, longest: 0 };
  const counted = counting(store, seen);
  let isDone = false;
  const turn = (): void => {
    seen.longest = Math.max(seen.longest, seen.steps);
    seen.steps = 0;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  const options = { threadId: "t", bytes: branching(branches), onInvalid: "refuse", recordsAtOnce: 100 } as const;
  const outcome = await importFile(threadDeps(counted), "conversations.json", options);
  isDone = true;
  assert.ok(outcome.kind === "imported" && outcome.threads.length === branches + 1);
  assert.ok(seen.longest < branches / 4, `${seen.longest} calls of the store in one turn`);
});

/** Counts the calls of the store, but for looks at a head, which take next to nothing. */
function counting(store: Store, seen: { steps: number }): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function" || name === "head") return value;
      return (...given: unknown[]): unknown => {
        seen.steps += 1;
        return value.apply(target, given);
      };
    },
  });
}

/** ChatGPT's export of a conversation in which each question was asked a second time. */
function branching(count: number): Buffer {
  const said = (id: string, parent: string | null, children: readonly string[], role: string) => ({
    id,
    parent,
    children,
    message: { id, author: { role }, create_time: 1.7e9, content: { content_type: "text", parts: [`words of ${id}`] } },
  });
  const nodes = Array.from({ length: count }, (_, index) => [
    said(`a${index}`, index === 0 ? null : `a${index - 1}`, [`a${index + 1}`, `b${index}`], "user"),
    said(`b${index}`, `a${index}`, [], "assistant"),
  ]).flat();
  const mapping = Object.fromEntries(nodes.map((node) => [node.id, node]));
  return Buffer.from(JSON.stringify([{ title: "t", conversation_id: "c", current_node: `a${count - 1}`, mapping }]));
}

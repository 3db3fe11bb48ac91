import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptedModel } from "@palimpsest/testing";
import { createAgent } from "../../agent/agent.ts";
import { recall } from "../../middleware/basics.ts";
import { openSqlite } from "../../stores/sqlite.ts";
import { fork } from "../../thread/acts.ts";
import { verify } from "../../thread/audit.ts";
import { threadDeps } from "../../thread/writer.ts";
import { eraseMessage } from "./erase-message.ts";

const WORD = "wombatneutron";

test("a redacted message is also erased where the agent had looked it up, in forks too, and what else it looked up stays", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  const own = threadDeps(store);
  const call = (name: string, input: unknown) => ({ calls: [{ name, input }] });
  let garden = 0;
  const steps = () => [
    "Fine.",
    "Nice.",
    call("recall", { query: "boat harbor" }),
    call("recall_read", { from: 3 }),
    call("recall_read", { from: garden }),
    "I looked it up.",
    call("recall_read", { from: 1, to: 4 }),
    "Again.",
  ];
  const model = scriptedModel(({ index }) => steps()[index]!);
  const agent = createAgent({ model, store, middleware: [recall()] });
  t.after(async () => {
    await agent.close();
    await store.close();
  });
  await agent.generate({ threadId: "a", prompt: `My boat in the harbor is called ${WORD}` });
  const seq = (await found(WORD, "a"))[0]!;
  await agent.generate({ threadId: "a", prompt: "My garden is full of tulips" });
  garden = (await found("tulips", "a"))[0]!;
  await agent.generate({ threadId: "a", prompt: "Look up what I said" });
  await fork(own, "a", { as: "b", at: (await store.head("a"))!.version });
  await agent.generate({ threadId: "b", prompt: "And once more" });
  assert.ok((await found(WORD, "b")).length > 3, "it was looked up");
  assert.equal((await eraseMessage({ deps: own, repository: null, cleanFiles: null }, "a", seq)).kind, "redacted");
  assert.deepEqual([await found(WORD, "a"), await found(WORD, "b")], [[], []]);
  assert.equal((await found("tulips", "a")).length, 2);
  assert.equal((await verify(own, "a")).kind, "whole");

  async function found(word: string, threadId: string): Promise<number[]> {
    const seqs: number[] = [];
    for await (const { chained, record } of store.records(threadId))
      if (`${chained.header}${chained.body}`.includes(word)) seqs.push(record.seq);
    return seqs;
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { tool } from "ai";
import { z } from "zod";
import { agentKit } from "../../test/agent/agent-kit.ts";
import { openSqlite } from "../stores/sqlite.ts";
import type { AppendBatch, Store } from "../stores/store.ts";
import type { Middleware } from "./run.ts";

const learning: Middleware = {
  name: "learning",
  jobs: ({ agentName }, throughSeq) => [
    { queue: "memory", key: agentName, payload: { throughSeq }, delayMs: 1000, maxAttempts: 5, now: 0 },
  ],
};

test("[F51] a turn's jobs are written in the append of its last answer, and in no other", async () => {
  const inner = openSqlite({ path: ":memory:" }).forUser("ada");
  const batches: AppendBatch[] = [];
  const store: Store = {
    ...inner,
    append: (threadId, batch) => {
      batches.push(batch);
      return inner.append(threadId, batch);
    },
  };
  const look = tool({ inputSchema: z.object({}), execute: async () => "a cat" });
  const { agent } = agentKit([{ text: "let me look", calls: [{ name: "look", input: {} }] }, "it is a cat"], {
    store,
    tools: { look },
    middleware: [learning],
  });
  await agent.generate({ threadId: "t", prompt: "what is it?" });
  const asking = batches.filter(({ jobs = [] }) => jobs.length > 0);
  assert.equal(asking.length, 1);
  assert.match(asking[0]!.records[0]!.body!, /it is a cat/);
  assert.deepEqual(asking[0]!.jobs![0]!.payload, { throughSeq: asking[0]!.records[0]!.seq });
  const [job, ...more] = await inner.outbox.list();
  assert.deepEqual([job!.threadId, job!.userId, job!.state, more.length], ["t", "ada", "waiting", 0]);
  await store.close();
});

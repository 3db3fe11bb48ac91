// A writer that runs during an erasure doesn't leave the erased words behind: evidence, memory blocks, facts.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { ChainedRecord } from "@palimpsest/core/internal/log";
import { scriptedModel } from "@palimpsest/testing";
import { createAgent } from "../../agent/agent.ts";
import { openSqlite } from "../../stores/sqlite.ts";
import type { AppendBatch, Store } from "../../stores/store.ts";
import { rebuildHead, verify } from "../../thread/audit.ts";
import { threadDeps } from "../../thread/writer.ts";
import { type EraseDeps, eraseMessage, forgetEverywhere } from "./erase-message.ts";
import { fileStorage } from "./file-storage.ts";
import { memory } from "./middleware.ts";
import { memoryJob } from "./queue.ts";
import { openRepository } from "./repository.ts";
import { memoryService } from "./service.ts";
import { createUpdater } from "./updater.ts";

const WORD = "zebrafishquark";
const OWN = { userId: "default", agentName: null };

test("a run that looked up a turn before it was redacted doesn't use its words as evidence", async (t) => {
  const at = open(t);
  await at.ask("a", `My boat is called ${WORD} and lies in the harbor`);
  let additions = 0;
  at.before(
    ({ kind }) => kind === "evidence",
    async () => {
      additions += 1;
      const seq = await at.messageIn("a");
      assert.equal((await eraseMessage(at.kit, "a", seq)).kind, "redacted");
    },
  );
  await at.ask("b", "What is my boat called, and where does it lie in the harbor?");
  assert.equal(additions, 1);
  await at.nowhere();
});

test("a run that read a fact before it was erased doesn't show it", async (t) => {
  const at = open(t);
  await at.service.add(OWN, { content: `User's boat is called ${WORD}` });
  const [fact] = (await at.service.show(OWN)).facts;
  let shown = 0;
  at.before(
    ({ kind, body }) => kind === "state" && body?.includes(WORD) === true,
    async () => {
      shown += 1;
      const done = await forgetEverywhere(at.kit, at.service, { scope: OWN, ids: [fact!.id], turns: "redact" });
      assert.equal(done.kind, "forgotten");
    },
  );
  await at.ask("b", "hello there, my friend");
  assert.equal(shown, 1);
  await at.nowhere();
});

test("what a model learned from a turn that was redacted meanwhile isn't kept, with and without a memory before", async (t) => {
  for (const known of ["nothing", "something"]) {
    const at = open(t);
    if (known === "something") await at.service.add(OWN, { content: "User is a baker" });
    await at.ask("a", `My boat is called ${WORD} and lies in the harbor`);
    const quote = `My boat is called ${WORD}`;
    const updater = createUpdater({
      store: at.store,
      repository: at.kit.repository!,
      clock: at.kit.deps.clock,
      ids: at.kit.deps.ids,
      emit: () => {},
      settings: { maxFacts: 100, factConfidenceThreshold: 0.7 },
      async extract() {
        await eraseMessage(at.kit, "a", await at.messageIn("a"));
        const section = { text: `The boat ${WORD} is on their mind`, confidence: 0.9, quote };
        const added = { content: `User's boat is called ${WORD}`, confidence: 0.9, quote };
        return JSON.stringify({ additions: [added], sections: { topOfMind: section } });
      },
    });
    await updater.process(
      memoryJob({
        userId: "default",
        threadId: "a",
        agentName: "default",
        throughSeq: (await at.store.head("a"))!.version,
      }),
    );
    await at.nowhere();
  }
});

function open(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), "palimpsest-races-"));
  const store = openSqlite({ path: join(home, "palimpsest.db") });
  t.after(async () => {
    await store.close();
    rmSync(home, { recursive: true });
  });
  const own = threadDeps(store);
  const repository = openRepository(fileStorage({ base: home, storagePath: "memory.json" }), own.clock);
  let crossing: ((batch: AppendBatch) => Promise<void>) | null = null;
  const crossed: Store = {
    ...store,
    async append(threadId, batch) {
      await crossing?.(batch);
      return store.append(threadId, batch);
    },
  };
  const agent = createAgent({
    model: scriptedModel(() => "Fine."),
    store: crossed,
    middleware: [memory({ repository })],
  });
  const kit: EraseDeps = { deps: own, repository, cleanFiles: null };
  return {
    store,
    kit,
    service: memoryService({ repository, clock: own.clock, ids: own.ids }),
    /** Once, before the first append that such a record is in. */
    before(matches: (record: ChainedRecord) => boolean, work: () => Promise<void>) {
      crossing = async ({ records }) => {
        if (!records.some(matches)) return;
        crossing = null;
        await work();
      };
    },
    ask: (threadId: string, prompt: string) => agent.generate({ threadId, prompt }),
    async messageIn(threadId: string): Promise<number> {
      for await (const { record } of store.records(threadId, { kinds: ["message"] })) return record.seq;
      return 0;
    },
    async nowhere() {
      for (const { header } of (await store.threads()).threads) {
        assert.equal((await verify(own, header.id)).kind, "whole");
        assert.equal((await rebuildHead(own, header.id)).kind, "equal");
      }
      for (const entry of readdirSync(home, { withFileTypes: true }))
        if (entry.isFile()) assert.ok(!readFileSync(join(home, entry.name)).includes(WORD), entry.name);
    },
  };
}

/** Kills a process that takes turns and learns from them, again and again, and holds memory to what the log says. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { until } from "@palimpsest/testing/internal/queue-kit";
import { learn, learned } from "@palimpsest/testing/internal/queue-learner";
import { createMemoryQueue } from "../../src/features/memory/queue.ts";
import { openStore } from "../../src/stores/open.ts";
import type { Store } from "../../src/stores/store.ts";

const PROCESS = fileURLToPath(new URL("./queue-process.ts", import.meta.url));

export interface QueueProcess {
  readonly child: ChildProcess;
  /** The numbers it has reported, of one thread or of all; only whole lines. */
  reported(threadId?: string): number[];
  kill(): Promise<void>;
}

export function startQueueProcess(target: string, threadId: string, mode: "turns" | "work" | "hang"): QueueProcess {
  const args = ["--conditions=palimpsest-source", PROCESS, target, threadId, mode];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const closed = once(child, "close");
  // A check that fails must not leave it behind, or the test run would wait for it for ever.
  child.unref();
  (child.stdout as unknown as { unref(): void }).unref();
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  child.once("close", () => process.off("exit", end));
  return {
    child,
    reported: (threadId) =>
      output
        .split("\n")
        .slice(0, -1)
        .map((line) => line.split(" "))
        .filter(([, of]) => threadId === undefined || of === threadId)
        .map(([number]) => Number(number)),
    async kill() {
      child.kill("SIGKILL");
      assert.deepEqual(await closed, [null, "SIGKILL"], "it must die by our hand");
    },
  };
}

/** `delays`: how long each process lives after its first acknowledged turn, in milliseconds. */
export async function checkQueueCrashes(
  t: TestContext,
  target: string,
  delays: readonly number[],
): Promise<{ readonly turns: number }> {
  const threadId = "survivor";
  const store = (await openStore(target)).forUser("ada");
  const queue = createMemoryQueue(store, { process: (job) => learn(store, job), pollMs: 20, leaseMs: 1000 });
  t.after(async () => {
    await queue.stop();
    await store.close();
  });
  let unlearned = 0;
  let acknowledged = 0;
  for (const delay of delays) {
    const victim = startQueueProcess(target, threadId, "turns");
    await until(async () => victim.reported().length > 0, "the first turn");
    await new Promise((wake) => setTimeout(wake, delay));
    await victim.kill();
    acknowledged = Math.max(acknowledged, ...victim.reported());
    const said = await userTexts(store, threadId);
    assert.ok(said.length >= acknowledged, `${acknowledged} turns were acknowledged, ${said.length} are there`);
    const { texts } = await learned(store, threadId);
    assert.deepEqual(texts, said.slice(0, texts.length), "each turn once, in order");
    if (texts.length < said.length) unlearned += 1;
  }
  assert.ok(unlearned > 0, "no process was killed between a turn and its learning");
  const turns = await userTexts(store, threadId);
  await queue.start();
  // No new turn comes: what the log says and memory lacks is learned because its job has survived.
  await until(async () => (await store.outbox.list()).length === 0, "every job is done");
  assert.deepEqual((await learned(store, threadId)).texts, turns);
  return { turns: turns.length };
}

async function userTexts(store: Store, threadId: string): Promise<string[]> {
  const texts: string[] = [];
  for await (const { record } of store.records(threadId, { kinds: ["message"] })) {
    if (record.kind === "message" && record.origin === "user")
      texts.push((JSON.parse(record.body) as { content: string }).content);
  }
  return texts;
}

/** What survives: failures, shutdowns, refusals, repetition, and a person's wish to forget. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryJob } from "palimpsest/internal/memory";
import { backOffMs } from "palimpsest/internal/stores";
import { prepare } from "palimpsest/internal/threads";
import { aFewPolls, MINUTE, type QueueKit, until } from "./kit.ts";
import { learn, learned, save } from "./learner.ts";

export function retrying({ engine, setUp }: QueueKit): void {
  test("a failed job is tried again after a growing pause", async () => {
    let failures = 2;
    const { queue, turn, of, mine, idle } = await setUp("flaky", {
      process: async (job) => {
        if (job.threadId === "flaky" && failures-- > 0)
          return { kind: "failed", reason: "model-failed", detail: "no answer" };
        return learn(engine().store, job);
      },
    });
    await turn("I am allergic to nuts.");
    await queue.makeDue({ userId: "ada", threadId: "flaky" });
    const before = engine().clock().getTime();
    await queue.start();
    for (const attempt of [1, 2]) {
      await until(async () => of("job-fail").length === attempt && (await mine())[0]?.state === "waiting", "it failed");
      const [job] = await mine();
      assert.equal(job!.error, "model-failed: no answer");
      assert.equal(job!.attempts, attempt);
      assert.ok(Date.parse(job!.runAt) >= before + backOffMs(attempt), `${job!.runAt} is too soon`);
      await engine().elapse(backOffMs(attempt) + 1000);
    }
    await idle();
    assert.deepEqual((await learned(engine().store, "flaky")).texts, ["I am allergic to nuts."]);
  });
}

export function givingUp({ engine, setUp }: QueueKit): void {
  test("a job that fails every time is given up and shown, and comes back when asked for or with the next turn", async () => {
    let broken = true;
    const { queue, turn, of, mine, idle } = await setUp("hopeless", {
      maxAttempts: 2,
      process: async (job) => {
        if (job.threadId === "hopeless" && broken) throw new Error("no credit left");
        return learn(engine().store, job);
      },
    });
    const dead = async (failures: number) => {
      await queue.makeDue({ userId: "ada", threadId: "hopeless" });
      await until(
        async () => of("job-fail").length === failures - 1 && (await mine())[0]?.state === "waiting",
        "one failure",
      );
      await queue.makeDue({ userId: "ada", threadId: "hopeless" });
      // The store may know of a failure before its worker has told it.
      await until(
        async () => of("job-fail").length === failures && (await mine())[0]?.state === "dead",
        "it is given up",
      );
    };
    await queue.start();
    await turn("I moved to Bergen.");
    await dead(2);
    const [job] = await mine();
    assert.deepEqual([job!.userId, job!.key, job!.attempts, job!.error], ["ada", "default", 2, "no credit left"]);
    await engine().elapse(1000 * MINUTE);
    await aFewPolls();
    assert.equal(of("job-start").length, 2);
    await turn("I have a boat.");
    await dead(4);
    broken = false;
    assert.equal(await engine().store.outbox.revive("memory"), 1);
    await idle();
    assert.deepEqual((await learned(engine().store, "hopeless")).texts, ["I moved to Bergen.", "I have a boat."]);
  });
}

export function draining({ engine, setUp }: QueueKit): void {
  test("a job that had failed and is given back at shutdown keeps its count and its reason", async () => {
    let attempts = 0;
    const { queue, turn, of, mine } = await setUp("interrupted", {
      process: (_, signal) => {
        attempts += 1;
        if (attempts === 1) return Promise.reject(new Error("no credit left"));
        return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
    });
    await turn("I play the cello.");
    await queue.makeDue({ userId: "ada", threadId: "interrupted" });
    await queue.start();
    await until(async () => of("job-fail").length === 1 && (await mine())[0]?.state === "waiting", "it failed once");
    await queue.makeDue({ userId: "ada", threadId: "interrupted" });
    await until(async () => of("job-start").length === 2, "it runs again");
    await queue.stop();
    await until(async () => (await mine())[0]?.state === "waiting", "it is given back");
    const [left] = await mine();
    assert.deepEqual([left!.state, left!.attempts, left!.error], ["waiting", 1, "no credit left"]);
  });

  test("[F51] drained on shutdown: what was queued is learned, or stays for the next worker when time is up", async () => {
    const quick = await setUp("drained");
    await quick.turn("I speak Norwegian.");
    assert.deepEqual(await quick.queue.drain(60_000), { kind: "drained" });
    assert.deepEqual((await learned(engine().store, "drained")).texts, ["I speak Norwegian."]);
    await quick.queue.stop();

    const slow = await setUp("undrained", { process: () => new Promise(() => {}), leaseMs: 30_000 });
    await slow.turn("I speak Danish.");
    const drained = await slow.queue.drain(200);
    assert.equal(drained.kind, "left");
    await slow.queue.stop();
    await until(async () => (await slow.mine())[0]?.state === "waiting", "it is given back");
    const [left] = await slow.mine();
    assert.deepEqual([left!.state, left!.attempts, left!.error], ["waiting", 0, null], "given back as if never taken");
    assert.deepEqual(slow.of("job-fail"), []);
    const next = await setUp("undrained-helper");
    await next.queue.start();
    await until(
      async () => (await learned(engine().store, "undrained")).texts.length === 1,
      "the next worker learned it",
    );
  });
}

export function exactness({ engine, setUp }: QueueKit): void {
  test("[F60] a queued job writes nothing back from turns that were fenced", async () => {
    const { queue, turn, idle } = await setUp("fenced");
    await turn("My neighbour is called Kari.");
    await turn("I collect stamps.");
    await save(engine().store, "fenced", { watermark: 0, texts: [], fenced: ["fenced#1"] });
    await queue.makeDue({ userId: "ada", threadId: "fenced" });
    await queue.start();
    await idle();
    assert.deepEqual((await learned(engine().store, "fenced")).texts, ["I collect stamps."]);
  });

  test("an append that is refused queues nothing", async () => {
    const { queue, turn, mine, writer } = await setUp("refused");
    const stale = await prepare(writer, (await engine().store.head("refused"))!, []);
    await turn("I sing in a choir.");
    await queue.makeDue({ userId: "ada", threadId: "refused" });
    await queue.start();
    await until(async () => (await mine()).length === 0, "the turn's own job is done");
    const jobs = [queue.job({ agentName: "default", throughSeq: 2 })];
    assert.equal((await engine().store.append("refused", { ...stale, jobs })).kind, "conflict");
    assert.deepEqual(await mine(), []);
  });

  test("a job may come twice: it does its work once", async () => {
    const { queue, turn } = await setUp("twice");
    const throughSeq = await turn("I swim on Mondays.");
    const job = memoryJob({ threadId: "twice", userId: "ada", agentName: "default", throughSeq });
    await learn(engine().store, job);
    await learn(engine().store, job);
    assert.deepEqual(await queue.drain(60_000), { kind: "drained" });
    assert.deepEqual((await learned(engine().store, "twice")).texts, ["I swim on Mondays."]);
  });
}

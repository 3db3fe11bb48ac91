/** The outbox's rows: written with their append, one for each thread, queue and key. When they run is the queue's suite. */
import assert from "node:assert/strict";
import { asUser } from "palimpsest/internal/stores";
import { prepare } from "palimpsest/internal/threads";
import type { Writer } from "palimpsest/session";
import type { NewJob } from "palimpsest/stores";
import { type CasesWith, freshId, freshThread, headOf } from "./kit.ts";

export const outboxCases: CasesWith<"outbox"> = {
  "a job stands with its append, its payload as given; a newer one of its key replaces it": async (suite) => {
    const writer = await freshThread(suite.store());
    const queue = freshId();
    const { outbox, userId } = suite.store();
    assert.equal(await appendJobs(writer, [job(queue, "a", { z: [1, null], a: "é" }), job(queue, "b", 1)]), "appended");
    assert.equal(await appendJobs(writer, [job(queue, "a", { newer: true })]), "appended");
    const jobs = (await outbox.list(queue)).toSorted((a, b) => (a.key < b.key ? -1 : 1));
    const { threadId } = writer.lease;
    const fresh = { state: "waiting", attempts: 0, error: null };
    assert.deepEqual(
      jobs.map(({ runAt: _, ...rest }) => rest),
      [
        { queue, key: "a", userId, threadId, payload: { newer: true }, ...fresh },
        { queue, key: "b", userId, threadId, payload: 1, ...fresh },
      ],
    );
    assert.ok((await outbox.list()).length >= 2, "without a queue's name those of all");
  },

  "a job that no append asks for stands as others do, for a thread of this user": async (suite) => {
    const writer = await freshThread(suite.store());
    const { threadId } = writer.lease;
    const queue = freshId();
    const { outbox } = suite.store();
    if (outbox.queue === undefined) return;
    assert.equal(await outbox.queue(threadId, job(queue, "a", 1)), "queued");
    assert.equal(await outbox.queue(threadId, job(queue, "a", 2)), "queued");
    assert.equal(await outbox.queue(freshId(), job(queue, "a", 3)), "missing");
    assert.equal(await asUser(suite.store(), freshId()).outbox.queue?.(threadId, job(queue, "a", 3)), "missing");
    const jobs = await outbox.list(queue);
    assert.deepEqual(
      jobs.map(({ payload, state }) => [payload, state]),
      [[2, "waiting"]],
    );
  },

  "an append that is refused queues nothing": async (suite) => {
    const writer = await freshThread(suite.store());
    const queue = freshId();
    const { store } = writer;
    const lost = { ...writer, lease: { ...writer.lease, epoch: writer.lease.epoch + 1 } };
    assert.equal(await appendJobs(lost, [job(queue, "a", 1)]), "lease-lost");
    const head = await headOf(store, writer.lease.threadId);
    const late = await prepare(writer, head, [{ kind: "state", patch: { title: "late" } }]);
    await appendJobs(writer, []);
    const result = await store.append(writer.lease.threadId, { ...late, jobs: [job(queue, "a", 1)] });
    assert.equal(result.kind, "conflict");
    assert.deepEqual(await suite.store().outbox.list(queue), []);
  },

  "jobs go with their thread, and are hurried by its user alone and in their own queue": async (suite) => {
    const writer = await freshThread(suite.store());
    const queue = freshId();
    const { outbox } = suite.store();
    const { threadId } = writer.lease;
    await appendJobs(writer, [job(queue, "a", 1)]);
    assert.equal(await asUser(suite.store(), freshId()).outbox.makeDue(threadId, queue), 0);
    assert.equal(await outbox.makeDue(threadId, freshId()), 0);
    assert.equal(await outbox.makeDue(threadId, queue), 1);
    await writer.store.releaseLease(writer.lease);
    assert.equal(await writer.store.deleteThread(threadId), "deleted");
    assert.deepEqual(await outbox.list(queue), []);
  },
};

function job(queue: string, key: string, payload: NewJob["payload"]): NewJob {
  return { queue, key, payload, delayMs: 3_600_000, maxAttempts: 2, now: Date.UTC(2026, 0, 1) };
}

async function appendJobs(writer: Writer, jobs: readonly NewJob[]): Promise<string> {
  const head = await headOf(writer.store, writer.lease.threadId);
  const batch = await prepare(writer, head, [{ kind: "state", patch: { step: head.version } }]);
  return (await writer.store.append(writer.lease.threadId, { ...batch, jobs })).kind;
}

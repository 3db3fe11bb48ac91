/** What a network between a worker and its PostgreSQL may do to it, one fault at a time. */
import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import { openHasty, type PostgresProxy, startPostgresProxy } from "@palimpsest/testing/internal/postgres-faults";
import { type PostgresServer, startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { until } from "@palimpsest/testing/internal/queue-kit";
import { learn, learned, takeTurn } from "@palimpsest/testing/internal/queue-learner";
import { writeThread } from "@palimpsest/testing/internal/thread-writer";
import pg from "pg";
import type { JobEvent } from "../../stores/outbox.ts";
import type { ConnectionOptions } from "../../stores/postgres/connection.ts";
import { openPostgres } from "../../stores/postgres.ts";
import { StoreError } from "../../stores/store-error.ts";
import { createMemoryQueue, type MemoryQueueOptions } from "./queue.ts";

let server: PostgresServer;
let proxy: PostgresProxy;
before(async () => {
  server = await startPostgres();
  proxy = await startPostgresProxy(server);
});
after(async () => {
  await proxy?.stop();
  await server?.stop();
});

const CLAIM = "FOR UPDATE SKIP LOCKED";
const COMPLETION = "holder = $5 AND revision";

for (const fault of ["cut", "lose-answer", "fall-silent"] as const) {
  test(`a worker whose first look for a job fails (${fault}) learns on`, async (t) => {
    const { queue, turn, texts } = await setUp(t, `first-${fault}`, {}, limitsFor(fault));
    await turn("I live in Oslo.");
    const met = proxy.next(CLAIM, fault);
    await queue.start();
    await met;
    await until(async () => (await texts()).length === 1, "it is learned");
    await turn("I have a boat.");
    await until(async () => (await texts()).length === 2, "the next turn is learned too");
  });

  test(`a job whose completion is lost (${fault}) is done once, and the next one follows`, async (t) => {
    const { queue, store, turn, texts } = await setUp(t, `completion-${fault}`, {}, limitsFor(fault));
    const met = proxy.next(COMPLETION, fault);
    await turn("I live in Oslo.");
    await queue.start();
    await met;
    await turn("I have a boat.");
    await until(async () => (await store.outbox.list()).length === 0, "every job is done");
    assert.deepEqual(await texts(), ["I live in Oslo.", "I have a boat."]);
  });
}

test("a job that was taken and never heard of is taken again when its lease has run out", async (t) => {
  const first = await setUp(t, "unheard", { leaseMs: 500 }, { reconnectMs: 0 });
  await first.turn("I live in Oslo.");
  const met = proxy.next(CLAIM, "lose-answer");
  await first.queue.start();
  await met;
  await first.troubled;
  await until(async () => (await first.texts()).length === 1, "it is learned");
});

test("a worker that is stopped while it waits for an answer gives back what the answer brings", async (t) => {
  const started: string[] = [];
  const onEvent = (event: JobEvent) => started.push(event.type);
  const { queue, turn, direct } = await setUp(t, "stopped", { stopMs: 50, onEvent });
  await turn("I live in Oslo.");
  const met = proxy.next(CLAIM, "delay-answer");
  await queue.start();
  await met;
  const states = async () => (await direct.outbox.list()).map(({ state, attempts }) => [state, attempts]);
  assert.deepEqual(await states(), [["running", 1]]);
  await queue.stop();
  proxy.speak();
  await until(async () => (await direct.outbox.list())[0]!.state === "waiting", "it was given back");
  assert.deepEqual(await states(), [["waiting", 0]]);
  assert.deepEqual(started, []);
});

test("a turn that ends just while its job is marked as done leaves a job that waits, and that nobody holds", async (t) => {
  const ended = Promise.withResolvers<void>();
  const turn = new pg.Client(server.url());
  await turn.connect();
  t.after(() => turn.end());
  const options: Partial<MemoryQueueOptions> = {
    // As the append of a turn leaves the row, but not committed yet.
    async process() {
      await turn.query(`BEGIN; UPDATE meeting.outbox SET revision = revision + 1, attempts = 0, error = NULL,
        run = extract(epoch FROM clock_timestamp())::float8 * 1000 + 3600000`);
      return { kind: "skipped", reason: "trivial" };
    },
    onEvent: (event) => event.type === "job-end" && ended.resolve(),
  };
  const first = await setUp(t, "meeting", options);
  await first.turn("I live in Oslo.");
  await first.queue.start();
  const waiting = "SELECT 1 FROM pg_locks WHERE NOT granted";
  await until(async () => (await turn.query(waiting)).rows.length > 0, "the job is being marked");
  await turn.query("COMMIT");
  await ended.promise;
  assert.deepEqual(
    (await first.direct.outbox.list()).map(({ state }) => state),
    ["waiting"],
  );
});

test("a worker whose store is closed ends by itself, without a word", async (t) => {
  const told: JobEvent[] = [];
  const { queue, store, turn } = await setUp(t, "closed", { onEvent: (event) => told.push(event) });
  await queue.start();
  await store.close();
  await turn("I live in Oslo.");
  await queue.stop();
  assert.deepEqual(told, []);
});

test("a drain on a server that goes silent ends when the time is up, and says why", async (t) => {
  const { queue, turn } = await setUp(t, "undrained", { stopMs: 50 }, { answerMs: 300, reconnectMs: 500 });
  await turn("I live in Oslo.");
  proxy.fallSilent();
  await assert.rejects(
    queue.drain(10),
    (error: unknown) => error instanceof StoreError && error.code === "unavailable",
  );
});

test("with two connections left every turn goes through and memory learns from it", async (t) => {
  const admin = new pg.Client(server.url());
  await admin.connect();
  await admin.query(`CREATE ROLE poor LOGIN CONNECTION LIMIT 2; GRANT CREATE ON DATABASE postgres TO poor`);
  await admin.end();
  const store = await openPostgres(`${server.url().replace("postgres@", "poor@")}&schema=its_own`, {
    reconnectMs: 180_000,
  });
  const queue = createMemoryQueue(store, { process: (job) => learn(store, job), pollMs: 10 });
  t.after(async () => {
    await queue.stop();
    await store.close();
  });
  await queue.start();
  const writers = await Promise.all([1, 2, 3, 4].map((n) => writeThread(store, `poor-${n}`)));
  await Promise.all(writers.map((writer) => takeTurn(writer, queue, "I live in Oslo.")));
  assert.deepEqual(await queue.drain(60_000), { kind: "drained" });
});

/** Only where nothing comes any more is it noticed soon: elsewhere a slow disk must not look like silence. */
function limitsFor(fault: "cut" | "lose-answer" | "fall-silent"): ConnectionOptions {
  return fault === "fall-silent" ? { answerMs: 500 } : {};
}

/** Every schema is its own store. */
async function setUp(
  t: TestContext,
  threadId: string,
  options: Partial<MemoryQueueOptions> = {},
  connection: ConnectionOptions = {},
) {
  const schema = threadId.replaceAll("-", "_");
  const limits = { answerMs: 600_000, reconnectMs: 180_000 };
  const direct = await openPostgres(`${server.url()}&schema=${schema}`);
  const store = await openHasty(`${proxy.url()}?schema=${schema}`, { ...limits, ...connection });
  const troubled = Promise.withResolvers<void>();
  const queue = createMemoryQueue(store, {
    process: (job) => learn(direct, job),
    debounceSeconds: 0,
    starts: "by-hand",
    pollMs: 20,
    onEvent: (event) => event.type === "worker-trouble" && troubled.resolve(),
    ...options,
  });
  t.after(async () => {
    proxy.speak();
    await queue.stop();
    await Promise.all([store.close(), direct.close()]);
  });
  const writer = await writeThread(direct, threadId);
  return {
    queue,
    store,
    direct,
    troubled: troubled.promise,
    turn: (text: string) => takeTurn(writer, queue, text),
    texts: async () => (await learned(direct, threadId)).texts,
  };
}

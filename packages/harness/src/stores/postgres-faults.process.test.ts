import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, beforeEach, type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { openHasty, startPostgresProxy } from "@palimpsest/testing/internal/postgres-faults";
import { type PostgresServer, startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { say, writeThread } from "@palimpsest/testing/internal/thread-writer";
import { verify } from "../thread/audit.ts";
import { prepare, threadDeps } from "../thread/writer.ts";
import type { ConnectionOptions } from "./postgres/connection.ts";
import { openPostgres } from "./postgres.ts";
import type { ForkRequest, Lease, Store } from "./store.ts";
import { StoreError } from "./store-error.ts";

let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(() => server.stop());
/** Whatever became of the test before. */
beforeEach(() => server.start());

/** A busy machine may take long to bring a server back; what is tested is that an append waits, not for how long. */
const PATIENT = { reconnectMs: 180_000 };

test("a restart of the server between two appends goes unnoticed", async (t) => {
  const store = await open(t, PATIENT);
  const writer = await writeThread(store, "restarted");
  await say(writer, "one");
  await server.halt();
  await server.start();
  assert.equal((await say(writer, "two")).kind, "committed");
  assert.equal((await store.load("restarted"))!.records.length, 2);
});

test("an append waits for a server that comes back, and says so when it doesn't; nothing is written twice", async (t) => {
  const store = await open(t, PATIENT);
  const hasty = await open(t, { reconnectMs: 200 });
  const writer = await writeThread(store, "waiting");
  await server.halt();
  const late = say(writer, "one");
  late.catch(() => {});
  const refused = await hasty.head("waiting").catch((error: unknown) => error);
  assert.ok(refused instanceof StoreError && refused.code === "unavailable", String(refused));
  await server.start();
  assert.equal((await late).kind, "committed");
  assert.deepEqual(await textsOf(store, "waiting"), ["one"]);
});

test("a crash of the server in mid-append: acknowledged messages stand, each once", async (t) => {
  const store = await open(t, PATIENT);
  const writer = await writeThread(store, "crashed");
  const acknowledged: string[] = [];
  for (let round = 0; round < 5; round++) {
    let on = true;
    const writing = (async () => {
      while (on) {
        const text = `message ${acknowledged.length}`;
        assert.equal((await say(writer, text)).kind, "committed");
        acknowledged.push(text);
      }
    })();
    const stopped = writing.finally(() => {
      on = false;
    });
    stopped.catch(() => {});
    try {
      await pause(10 + round * 7);
      await server.crash();
      await server.start();
    } finally {
      on = false;
    }
    await stopped;
  }
  assert.deepEqual(await textsOf(store, "crashed"), acknowledged);
  await assertWhole(store, "crashed");
});

test("an append whose answer is lost on the way is found to stand and is not repeated", async (t) => {
  const { direct, proxy, store } = await behindProxy(t);
  const writer = await writeThread(store, "unanswered");
  await say(writer, "one");
  const lost = proxy.next("INSERT INTO", "lose-answer");
  assert.equal((await say(writer, "two")).kind, "committed");
  await lost;
  assert.deepEqual(await textsOf(direct, "unanswered"), ["one", "two"]);
  await assertWhole(direct, "unanswered");
});

for (const fault of ["cut", "lose-answer"] as const)
  test(`a first append whose connection breaks (${fault}) takes the lease and stands once`, async (t) => {
    const { direct, proxy, store } = await behindProxy(t);
    const id = `first-${fault}`;
    const { writer, batch } = await firstAppend(direct, id);
    const met = proxy.next("INSERT INTO", fault);
    const first = await store.appendFirst!(id, batch, { ttlMs: 60_000, after: writer.after });
    await met;
    assert.equal(first.kind, "appended");
    assert.equal((await direct.acquireLease(id, "another", 1000)).kind, "busy");
    const { lease } = first as { lease: Lease };
    assert.equal((await say({ ...writer, store, lease }, "two")).kind, "committed");
    assert.equal((await direct.head(id))!.version, 2);
    await assertWhole(direct, id);
  });

test("a first append that gave its lease back, whose answer is lost while another takes over, stands and holds nothing", async (t) => {
  const { direct, proxy, store } = await behindProxy(t);
  const { writer, batch } = await firstAppend(direct, "overtaken-first");
  const met = proxy.next("INSERT INTO", "lose-answer");
  const last = { ...batch, leaseAfter: "released" } as const;
  const answered = store.appendFirst!("overtaken-first", last, { ttlMs: 60_000, after: writer.after });
  await met;
  proxy.fallSilent();
  const other = await writeThread(direct, "overtaken-first");
  await say(other, "by another");
  proxy.speak();
  const first = await answered;
  assert.equal(first.kind, "appended");
  const { lease } = first as { lease: Lease };
  // With an epoch of 0 it would be taken for a run that has written nothing yet, and its work be done again.
  assert.ok(lease.epoch > 0);
  assert.deepEqual(await say({ ...writer, store, lease }, "too late"), { kind: "lease-lost" });
  assert.equal((await direct.head("overtaken-first"))!.version, 2);
  await assertWhole(direct, "overtaken-first");
});

test("a connection that goes silent is replaced by another one: the append stands, once", async (t) => {
  const { direct, proxy, store } = await behindProxy(t, { answerMs: 500, reconnectMs: 180_000 });
  const writer = { ...(await writeThread(direct, "muted")), store };
  const met = proxy.next("INSERT INTO", "fall-silent");
  assert.equal((await say(writer, "one")).kind, "committed");
  await met;
  assert.deepEqual(await textsOf(direct, "muted"), ["one"]);
});

test("a server that goes silent is unavailable when the time is up: at work, when opened, and work under way ends before it is closed", async (t) => {
  const hasty = { answerMs: 300, reconnectMs: 500 };
  const { direct, proxy, store } = await behindProxy(t, hasty);
  const writer = { ...(await writeThread(direct, "silent")), store };
  proxy.fallSilent();
  const unavailable = (error: unknown) => error instanceof StoreError && error.code === "unavailable";
  await assert.rejects(store.head("silent"), unavailable);
  await assert.rejects(say(writer, "one"), unavailable);
  await assert.rejects(store.fork({ from: "silent", at: 0, header: { user: "default" } } as ForkRequest), unavailable);
  await assert.rejects(openPostgres(proxy.url(), hasty), unavailable);
  const underWay = assert.rejects(store.head("silent"), StoreError);
  await store.close();
  await underWay;
});

test("a lost connection doesn't excuse a writer that another one has overtaken", async (t) => {
  const store = await open(t, PATIENT);
  const writer = await writeThread(store, "overtaken");
  const stale = await prepare(writer, (await store.head("overtaken"))!, []);
  await say(writer, "one");
  await server.halt();
  const late = store.append("overtaken", stale);
  late.catch(() => {});
  await server.start();
  assert.deepEqual(await late, { kind: "conflict", version: 1 });
});

test("kill -9 of a writer: nothing it was told was kept is lost, and the thread goes on", async (t) => {
  const store = await open(t, PATIENT);
  for (let round = 0; round < 20; round++) {
    const told = await writeUntilKilled(round);
    const head = (await store.head("killed"))!;
    assert.ok(head.version >= told, `told ${told}, found ${head.version}`);
    assert.ok(head.version <= told + 1, `an unasked message: told ${told}, found ${head.version}`);
  }
  const texts = await textsOf(store, "killed");
  assert.deepEqual(
    texts,
    texts.map((_, index) => `message ${index + 1}`),
  );
  assert.ok(texts.length >= 20);
  await assertWhole(store, "killed");
});

async function open(t: TestContext, options: ConnectionOptions = {}, url = server.url()): Promise<Store> {
  const store = await openPostgres(url, options);
  t.after(() => store.close());
  return store;
}

/** A thread whose lease is free, and what is to be its first record. */
async function firstAppend(store: Store, id: string) {
  const made = await writeThread(store, id);
  await store.releaseLease(made.lease);
  const head = (await store.head(id))!;
  const writer = { ...made, lease: { threadId: id, owner: "first", epoch: 0 }, after: head.hash };
  return { writer, batch: await prepare(writer, head, [{ kind: "state", patch: { title: "first" } }]) };
}

async function behindProxy(t: TestContext, options: ConnectionOptions = {}) {
  const proxy = await startPostgresProxy(server);
  t.after(() => proxy.stop());
  const direct = await open(t);
  const store = await openHasty(proxy.url(), options);
  t.after(() => store.close());
  return { proxy, store, direct };
}

/** Resolves to the last version the writer was told of before it was killed. */
async function writeUntilKilled(round: number): Promise<number> {
  const script = `import { openPostgres } from ${JSON.stringify(import.meta.resolve("./postgres.ts"))};
    import { say, writeThread } from ${JSON.stringify(import.meta.resolve("@palimpsest/testing/internal/thread-writer"))};
    const store = await openPostgres(${JSON.stringify(server.url())});
    const writer = await writeThread(store, "killed");
    for (let version = (await store.head("killed")).version + 1; ; version += 1) {
      await say(writer, "message " + version);
      process.stdout.write(version + "\\n");
    }`;
  const args = ["--conditions=palimpsest-source", "--input-type=module", "-e", script];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  await once(child.stdout, "data");
  await pause(round * 2);
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
  return Number(output.slice(0, output.lastIndexOf("\n")).split("\n").at(-1));
}

async function textsOf(store: Store, threadId: string): Promise<string[]> {
  const texts: string[] = [];
  for await (const { record } of store.records(threadId, { kinds: ["message"] })) {
    if (record.kind === "message") texts.push((JSON.parse(record.body) as { content: string }).content);
  }
  return texts;
}

async function assertWhole(store: Store, threadId: string): Promise<void> {
  const verdict = await verify(threadDeps(store), threadId);
  assert.equal(verdict.kind, "whole", JSON.stringify(verdict));
}

// What instances tell each other, on a real PostgreSQL: each test has a user of its own.
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { type PostgresServer, startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { writeThread } from "@palimpsest/testing/internal/thread-writer";
import { Client } from "pg";
import { connectPostgres, type PostgresConnection, type SqlWork } from "./postgres/connection.ts";
import { sharedRuns } from "./postgres/shared-runs.ts";
import { openPostgres } from "./postgres.ts";
import type { NewSharedRun, Shared } from "./shared.ts";
import type { FullStore } from "./store.ts";

let server: PostgresServer;
let store: FullStore;
before(async () => {
  server = await startPostgres();
  store = await openPostgres(server.url());
});
after(async () => {
  await store.close();
  await server.stop();
});

const of = (userId: string): Shared => store.forUser(userId).shared!;

function newRun(id: string, more: Partial<NewSharedRun> = {}): NewSharedRun {
  const nobodys = { model: null, request: null, holder: "one" };
  return { id, threadId: "t", ttlMs: 30_000, ...nobodys, ...more };
}

test("what a run says on one instance is read on another, batch by batch, behind any event", async () => {
  const { runs } = of("reader");
  assert.deepEqual(await runs.put(newRun("r", { model: "small" })), { kind: "put" });
  const nothing = await runs.read("r", 0);
  assert.deepEqual([nothing!.state, nothing!.last, nothing!.batches, nothing!.model], ["live", 0, [], "small"]);
  assert.equal(await runs.write("r", "one", { first: 1, events: ['{"a":1}', '{"a":2}'] }), "written");
  assert.equal(await runs.write("r", "one", { first: 3, events: ['{"a":3}'] }), "written");
  const behind = await runs.read("r", 2);
  assert.deepEqual([behind!.batches, behind!.last], [[{ first: 3, events: ['{"a":3}'] }], 3]);
  // A reader in the middle of a batch gets it whole and skips what it has.
  assert.deepEqual((await runs.read("r", 1))!.batches[0], { first: 1, events: ['{"a":1}', '{"a":2}'] });
  const end = { holder: "one", batch: { first: 4, events: ['{"a":4}'] }, outcome: '{"end":"answered"}' };
  assert.equal(await runs.end("r", end), "ended");
  const page = await runs.read("r", 3);
  assert.deepEqual([page!.state, page!.outcome, page!.last], ["ended", '{"end":"answered"}', 4]);
});

test("a run is its user's: to another it isn't there", async () => {
  await of("ada").runs.put(newRun("hers"));
  const { runs } = of("bob");
  assert.equal(await runs.read("hers", 0), undefined);
  assert.equal(await runs.ask("hers", "cancel"), "missing");
  assert.equal(await runs.find({ threadId: "t" }), undefined);
  await runs.drop("hers");
  assert.equal((await of("ada").runs.read("hers", 0))!.state, "live");
});

test("of one request there is one run at a time; one whose holder is gone is in nobody's way", async () => {
  const { runs } = of("single");
  await runs.put(newRun("first", { request: "hash" }));
  const second = newRun("second", { request: "hash", holder: "two" });
  assert.deepEqual(await runs.put(second), { kind: "taken", id: "first" });
  assert.equal(await runs.find({ request: "hash" }), "first");
  await runs.end("first", { holder: "one", batch: null, outcome: "{}" });
  assert.deepEqual(await runs.put({ ...second, ttlMs: 0 }), { kind: "put" });
  assert.deepEqual(await runs.put(newRun("third", { request: "hash" })), { kind: "put" });
  assert.equal((await runs.read("second", 0))!.state, "ended");
});

test("a run that ends just when another asks for the same leaves its place to it", async (t) => {
  const { runs } = of("handing-on");
  await runs.put(newRun("first", { request: "hash" }));
  const connection = await connectPostgres(server.url());
  t.after(() => connection.close());
  const endsFirst = async <T>(work: SqlWork<T>): Promise<T> => {
    const result = await connection.run(work);
    await runs.end("first", { holder: "one", batch: null, outcome: "{}" });
    return result;
  };
  // The other run ends behind whichever statement comes first: before the new one is refused, or after it was.
  for (const afterStatement of [1, 2]) {
    let statements = 0;
    const run: PostgresConnection["run"] = (work) =>
      ++statements === afterStatement ? endsFirst(work) : connection.run(work);
    const late = sharedRuns({ ...connection, run, userId: "handing-on" });
    const id = `after-${afterStatement}`;
    assert.deepEqual(await late.put(newRun(id, { request: "hash" })), { kind: "put" });
    assert.equal((await runs.read(id, 0))?.state, "live", id);
    await runs.end(id, { holder: "one", batch: null, outcome: "{}" });
    await runs.drop("first");
    await runs.put(newRun("first", { request: "hash" }));
  }
});

test("of many who ask for the same at once, one gets it and the others learn its id", async () => {
  const { runs } = of("race");
  const puts = await Promise.all(
    Array.from({ length: 8 }, (_, index) => runs.put(newRun(`r${index}`, { request: "same" }))),
  );
  assert.equal(puts.filter(({ kind }) => kind === "put").length, 1);
  assert.equal(new Set(puts.flatMap((put) => (put.kind === "taken" ? [put.id] : []))).size, 1);
});

test("a run whose lease nobody renews is dead; whoever closes it first, closes it; its holder finds it lost", async () => {
  const { runs } = of("dead");
  await runs.put(newRun("r", { ttlMs: 0 }));
  assert.equal((await runs.read("r", 0))!.state, "dead");
  const closing = { holder: null, batch: { first: 1, events: ["{}"] }, outcome: "{}" };
  assert.equal(await runs.end("r", closing), "ended");
  assert.equal(await runs.end("r", closing), "lost");
  assert.equal(await runs.write("r", "one", { first: 1, events: ["late"] }), "lost");
  assert.equal(await runs.end("r", { ...closing, holder: "one" }), "lost");
  assert.deepEqual((await runs.read("r", 0))!.batches, [{ first: 1, events: ["{}"] }]);
  await runs.put(newRun("live"));
  assert.equal(await runs.end("live", closing), "lost", "a live one is not closed by others");
  await sql(
    "UPDATE palimpsest.runs SET leased = leased + interval '1 hour', until = until + interval '1 hour' WHERE id = 'live'",
  );
  assert.equal((await runs.read("live", 0))!.state, "dead", "a lease from the future is void");
});

test("a holder learns what was asked of its runs, and renews them all at once", async () => {
  const { runs } = of("held");
  const holder = "the-holder";
  await runs.put(newRun("a", { holder, ttlMs: 0 }));
  await runs.put(newRun("b", { holder, ttlMs: 0 }));
  assert.equal(await runs.ask("a", "cancel"), "asked");
  assert.equal(await runs.ask("b", "follow"), "asked");
  const held = await of("another").runs.held(holder, 30_000);
  assert.deepEqual(
    [...held].sort((one, other) => one.id.localeCompare(other.id)),
    [
      { userId: "held", id: "a", cancel: true, follow: false },
      { userId: "held", id: "b", cancel: false, follow: true },
    ],
  );
  assert.equal((await runs.read("a", 0))!.state, "live");
  assert.equal((await runs.held(holder, null)).length, 2);
});

test("what has ended is swept after a while, and goes at once with the thread whose words it holds", async () => {
  const own = store.forUser("swept");
  const runs = own.shared!.runs;
  const { lease } = await writeThread(own, "mine");
  for (const [id, threadId] of [
    ["old", "t"],
    ["said", "mine"],
    ["live", "t"],
  ] as const)
    await runs.put(newRun(id, { threadId }));
  for (const id of ["old", "said"])
    await runs.end(id, { holder: "one", batch: { first: 1, events: ["words"] }, outcome: "{}" });
  await own.deleteThread("mine", lease);
  assert.equal(await runs.read("said", 0), undefined);
  await runs.sweep(60_000);
  assert.equal((await runs.read("old", 0))!.state, "ended");
  await runs.sweep(0);
  assert.equal(await runs.read("old", 0), undefined);
  assert.equal((await runs.read("live", 0))!.state, "live");
  assert.deepEqual(await sql("SELECT 1 FROM palimpsest.run_events WHERE owner = 'swept'"), []);
});

test("what keys use on several instances stands on one account, and runs out evenly", async () => {
  const { limits } = of("x");
  const spent = 20 * 60_000;
  const use = { account: "key", requestsMs: spent, tokensMs: spent / 2, running: 2 };
  const [first] = await limits.settle("one", [use]);
  // It runs out by the server's clock, which goes on meanwhile.
  assert.ok(first!.requestsMs > 0 && first!.requestsMs <= spent, `${first!.requestsMs}`);
  assert.equal(first!.running, 0);
  const [second] = await limits.settle("two", [{ ...use, running: 1 }]);
  assert.ok(second!.requestsMs > spent && second!.requestsMs <= 2 * spent, `${second!.requestsMs}`);
  assert.ok(second!.tokensMs > spent / 2 && second!.tokensMs <= spent, `${second!.tokensMs}`);
  assert.equal(second!.running, 2);
  await sql("UPDATE palimpsest.account_running SET seen = seen - interval '1 minute' WHERE instance = 'one'");
  const [third] = await limits.settle("two", [{ account: "key", requestsMs: 0, tokensMs: 0, running: 0 }]);
  assert.equal(third!.running, 0, "what a process that is gone had under way counts for nothing");
});

test("gateways are counted while they are heard of; workers are none", async () => {
  const { limits } = of("x");
  assert.equal(await limits.beat("g1", "gateway"), 1);
  assert.equal(await limits.beat("w1", "worker"), 1);
  assert.equal(await limits.beat("g2", "gateway"), 2);
  await sql("UPDATE palimpsest.instances SET seen = seen - interval '1 minute' WHERE id = 'g1'");
  assert.equal(await limits.beat("g2", "gateway"), 1);
  assert.deepEqual(await sql("SELECT 1 FROM palimpsest.instances WHERE id = 'g1'"), []);
});

test("a window that one instance was told is known to all; the newer word counts, until it is forgotten", async () => {
  const { limits } = of("x");
  await limits.putWindow({ endpoint: "e", tokens: 8_000, learnedAt: 2 });
  await limits.putWindow({ endpoint: "e", tokens: 9_000, learnedAt: 1 });
  assert.deepEqual(await limits.windows(), [{ endpoint: "e", tokens: 8_000, learnedAt: 2 }]);
  await limits.dropWindow("e");
  assert.deepEqual(await limits.windows(), []);
});

test("who listens is woken with the runs' names; without an address nobody listens, and nothing depends on it", async (t) => {
  assert.equal(
    of("x").wakes.listen(() => {}),
    null,
  );
  const listening = await openPostgres(server.url(), { listenUrl: server.url() });
  t.after(() => listening.close());
  const heard = new EventTarget();
  const names: string[] = [];
  const connected = once(heard, "connected");
  const woken = once(heard, "woken");
  const listener = listening.shared!.wakes.listen((ids) => {
    names.push(...(ids ?? []));
    heard.dispatchEvent(new Event(ids === null ? "connected" : "woken"));
  })!;
  await connected;
  await of("x").wakes.tell(["a", "b"]);
  await woken;
  assert.deepEqual(names, ["a", "b"]);
  const again = once(heard, "connected");
  await sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'");
  await again;
  await listener.stop();
});

test("after a crash of the server the runs are gone, and their holder may put them again", async () => {
  const { runs } = of("crash");
  await runs.put(newRun("r"));
  await runs.write("r", "one", { first: 1, events: ["a"] });
  await server.crash();
  await server.start();
  assert.equal(await runs.read("r", 0), undefined);
  assert.equal(await runs.write("r", "one", { first: 2, events: ["b"] }), "lost");
  await runs.put(newRun("r"));
  assert.equal(await runs.write("r", "one", { first: 2, events: ["b"] }), "written");
  assert.deepEqual(
    [(await runs.read("r", 1))!.batches, (await runs.read("r", 0))!.first],
    [[{ first: 2, events: ["b"] }], 2],
  );
});

async function sql(text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: server.url() });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

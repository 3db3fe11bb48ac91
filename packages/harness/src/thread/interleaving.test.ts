// Two sessions on one thread, in any order and at once, on both stores: the log is one chain and both see all of it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type OpenAiMessage, shapeOf } from "@palimpsest/core/internal/message";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import { type PostgresServer, startPostgres } from "@palimpsest/testing/internal/postgres-server";
import fc from "fast-check";
import { openPostgres } from "../stores/postgres.ts";
import { openSqlite } from "../stores/sqlite.ts";
import type { Store } from "../stores/store.ts";
import { replay, verify } from "./audit.ts";
import { type OpenThread, openThread } from "./open-thread.ts";
import { threadDeps } from "./writer.ts";

let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(() => server.stop());

async function opened(store: Store, id: string): Promise<OpenThread<OpenAiMessage>> {
  const options = { store, id, shape: shapeOf("openai"), window: 100_000, counter: charsPerToken(4) };
  // As long as it takes: on a slow disk many writes wait for each other.
  const result = await openThread({ ...options, waitMs: 600_000 });
  assert.ok(result.kind === "open");
  return result.thread;
}

interface Act {
  readonly session: 0 | 1;
  /** Messages by their ids; both sessions draw from the same few. */
  readonly ids: readonly number[];
  /** Whether it is waited for before the next one. */
  readonly wait: boolean;
  readonly after: "prompt" | "nothing";
}

const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.record({
    session: fc.constantFrom(0, 1),
    ids: fc.array(fc.nat({ max: 12 }), { maxLength: 4 }),
    wait: fc.boolean(),
    after: fc.constantFrom("prompt", "nothing"),
  }),
  { maxLength: 14 },
);

const message = (n: number): OpenAiMessage => ({ role: n % 2 === 0 ? "user" : "assistant", content: `said ${n}` });

/** `stores`: a connection for each session. */
async function holds(stores: readonly [Store, Store], id: string, list: readonly Act[]): Promise<void> {
  const sessions = [await opened(stores[0], id), await opened(stores[1], id)] as const;
  const places = new Map<number, Set<number>>();
  const perform = async ({ session, ids, after: then }: Act): Promise<void> => {
    const seqs = await sessions[session].append(ids.map((n) => ({ id: `m${n}`, message: message(n) })));
    for (const [index, n] of ids.entries()) places.set(n, (places.get(n) ?? new Set()).add(seqs[index]!));
    if (then === "prompt") await sessions[session].prompt();
  };
  const running: Promise<void>[] = [];
  for (const act of list) {
    const done = perform(act);
    running.push(done);
    if (act.wait) await done;
  }
  await Promise.all(running);

  const log: string[] = [];
  for await (const record of replay({ store: stores[0] }, id)) {
    log.push(record.id);
    assert.deepEqual([...places.get(Number(record.id.slice(1)))!], [record.seq], "everybody was told the same place");
  }
  assert.deepEqual(log.toSorted(), [...places.keys()].map((n) => `m${n}`).toSorted(), "each id once, none missing");
  assert.equal((await verify(threadDeps(stores[1]), id)).kind, "whole");
  const [one, two] = [await sessions[0].prompt(), await sessions[1].prompt()];
  assert.deepEqual(one.messages, two.messages);
  assert.equal(one.version, two.version);
  for (const n of places.keys()) assert.match(JSON.stringify(one.messages), new RegExp(`said ${n}\\b`));
  await Promise.all(sessions.map((session) => session.close()));
}

async function anyOrder(stores: readonly [Store, Store], numRuns: number): Promise<void> {
  let thread = 0;
  await fc.assert(
    fc.asyncProperty(acts, (list) => holds(stores, `t${thread++}`, list)),
    { numRuns },
  );
}

test("SQLite: any interleaving of two sessions leaves one chain, each id once, and both see all", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  await anyOrder([store, store], 40);
});

test("PostgreSQL: any interleaving of two sessions on two connections leaves one chain, each id once, and both see all", async (t) => {
  const stores = [await openPostgres(server.url()), await openPostgres(server.url())] as const;
  t.after(() => Promise.all(stores.map((store) => store.close())));
  await anyOrder(stores, 10);
});

test("PostgreSQL: a thread is compacted, recovered, searched and gone on with by the next connection", async (t) => {
  const store = await openPostgres(server.url());
  t.after(() => store.close());
  const open = async (connection: Store): Promise<OpenThread<OpenAiMessage>> => {
    const shape = shapeOf("openai");
    const result = await openThread({ store: connection, id: "long", shape, window: 4000, counter: charsPerToken(4) });
    assert.ok(result.kind === "open");
    return result.thread;
  };
  const history = Array.from({ length: 60 }, (_, n) => {
    const { role, content } = message(n);
    return { id: `m${n}`, message: { role, content: `${content} ${"deep ".repeat(60)}` } };
  });
  const thread = await open(store);
  for (let n = 0; n < history.length; n += 2) {
    await thread.append(history.slice(n, n + 1));
    const { count } = await thread.prompt();
    assert.ok(count.tokens < 4000);
    await thread.append(history.slice(n + 1, n + 2));
    assert.deepEqual(await thread.report({ input: count.tokens, output: 80 }), { kind: "accepted" });
  }
  assert.equal(await thread.recover(new Error("maximum context length is 2000 tokens")), true);
  const before = await thread.prompt();
  assert.ok(before.count.tokens < 2000);
  const hits = await thread.search("said 3");
  assert.equal(hits.kind, "found");

  const other = await openPostgres(server.url());
  t.after(() => other.close());
  const next = await open(other);
  assert.deepEqual((await next.prompt()).messages, before.messages);
  await next.append([...history, { id: "last", message: { role: "user", content: "and now?" } }]);
  const bodies: unknown[] = [];
  for await (const { body } of replay({ store }, "long")) bodies.push(JSON.parse(body));
  assert.deepEqual(bodies, [...history.map((one) => one.message), { role: "user", content: "and now?" }]);
  assert.equal((await verify(threadDeps(other), "long")).kind, "whole");
});

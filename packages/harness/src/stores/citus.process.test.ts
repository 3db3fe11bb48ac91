/** The suites of stores and queues on a real Citus, and which of its shards the statements of a turn go to. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { scriptedModel } from "@palimpsest/testing";
import { queueConformance, storeConformance } from "@palimpsest/testing/conformance";
import { type CitusStore, citusStore, noCitus } from "@palimpsest/testing/internal/citus";
import pg from "pg";
import { plainCounter } from "../../test/agent/agent-kit.ts";
import { createDeepAgent } from "../home/create-deep-agent.ts";
import { searchThread } from "../recall/search.ts";
import { openStore } from "./open.ts";
import { openPostgres } from "./postgres.ts";

if (noCitus !== null) test("the store on Citus", { skip: noCitus });
else {
  storeConformance("Citus", async () => {
    const at = await citusStore();
    const later = (column: string, ms: number) => `${column} = ${column} + ${ms} * interval '1 millisecond'`;
    return {
      connect: () => openPostgres(at.url),
      setClockBack: (ms) =>
        at.onShards("threads", `UPDATE %s SET ${later("lease_taken", ms)}, ${later("lease_until", ms)}`),
      dispose: () => at.drop(),
    };
  });

  queueConformance("Citus", async () => {
    const at = await citusStore();
    const store = (await openPostgres(at.url)).forUser("ada");
    return {
      store,
      clock: () => new Date(),
      elapse: async (ms) => {
        const columns = ["run", "first", "queued", "leased", "until"];
        const earlier = columns.map((column) => `${column} = ${column} - $1::float8`);
        await at.sql(`UPDATE ${at.schema}.outbox SET ${earlier.join(", ")}`, [ms]);
      },
      close: async () => {
        await store.close();
        await at.drop();
      },
    };
  });

  test("every statement of a turn, a search and an erasure goes to one shard, but for those of tables that the coordinator keeps", async (t) => {
    const at = await citusStore();
    const telling = new URL(at.url);
    telling.searchParams.set("options", "-c citus.log_remote_commands=on -c client_min_messages=notice");
    const store = (await openStore(telling.href)).forUser("ada");
    const model = scriptedModel(({ index }) =>
      index % 2 === 0 ? { text: "I'll note it.", calls: [{ name: "write_todos", input: "none" }] } : "It is noted.",
    );
    const agent = createDeepAgent({ model, store, counter: plainCounter, window: 1_000_000, summarizer: null });
    t.after(async () => {
      await agent.close();
      await store.close();
      await at.drop();
    });
    const heard = overhear(t);
    for (let turn = 0; turn < 2; turn += 1)
      await agent.generate({ threadId: "t", prompt: "Note that the tide turns at six." });
    assert.equal((await searchThread(store, "t", "tide")).kind, "found");
    await store.acquireLease("t", "somebody", 1000);
    await store.outbox.makeDue("t", "memory");
    assert.equal(await store.deleteThread("t", { threadId: "t", owner: "somebody", epoch: 3 }), "deleted");
    const statements = [...heard];
    assert.deepEqual(
      statements.filter(({ nodes }) => nodes.size > 1).map(({ text }) => text.slice(0, 300)),
      [],
    );
    const plans = await plansOf(at, statements);
    t.diagnostic(`${plans.length} of ${statements.length} statements are on tables of users`);
    assert.ok(plans.length > 25, `${plans.length}`);
    assert.deepEqual(
      plans
        .filter(({ parts, nodes }) => parts.some((part) => part !== "one shard") || nodes.size > 1)
        .map(({ text }) => text),
      [],
    );
  });
}

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Where the coordinator sent something for it. */
  readonly nodes: Set<string>;
}

/** What the driver is asked for from now on, by every connection, and which nodes are asked for it. */
function overhear(t: TestContext): readonly Statement[] {
  const statements: Statement[] = [];
  const current = new Map<pg.Client, Statement>();
  const { query } = pg.Client.prototype;
  const listening = function (this: pg.Client, asked: unknown, ...rest: unknown[]): unknown {
    if (typeof asked === "object" && asked !== null && "text" in asked) {
      if (!current.has(this))
        this.on("notice", ({ detail }) => {
          const node = /on server (\S+)/.exec(detail ?? "")?.[1];
          if (node !== undefined) current.get(this)!.nodes.add(node);
        });
      current.set(this, { ...(asked as Statement), nodes: new Set() });
      statements.push(current.get(this)!);
    }
    return (query as (...values: unknown[]) => unknown).call(this, asked, ...rest);
  };
  Object.assign(pg.Client.prototype, { query: listening });
  t.after(() => Object.assign(pg.Client.prototype, { query }));
  return statements;
}

/** Where each part of a statement on tables of users is sent, and which nodes those are. Nothing is carried out. */
async function plansOf({ schema, sql }: CitusStore, statements: readonly Statement[]) {
  const spread = (await sql("SELECT logicalrelid::text AS name FROM pg_dist_partition")).map(({ name }) =>
    String(name),
  );
  const own = spread.filter((name) => name.startsWith(`${schema}.`)).map((name) => `"${schema}".${name.split(".")[1]}`);
  const asked = statements.filter(({ text }) => own.some((name) => new RegExp(`${name}\\b`).test(text)));
  return Promise.all(
    asked.map(async ({ text, values }) => {
      const plan = await sql(`EXPLAIN (COSTS OFF, VERBOSE) ${text}`, values);
      const lines = plan.map((row) => String(row["QUERY PLAN"]));
      const all = (pattern: RegExp) => lines.flatMap((line) => pattern.exec(line)?.[1] ?? []);
      const parts = all(/Task Count: (\d+)/).map((count) => (count === "1" ? "one shard" : `${count} shards`));
      // Rows that the coordinator makes are sent to the shard of their user, who is the same in each.
      const isOneUsers = /^INSERT INTO \S+ (AS \w )?\(owner, .*\)\s+SELECT \$1, /s.test(text);
      if (parts.length === 0) parts.push(isOneUsers ? "one shard" : "unknown");
      // What the parts of a statement hand on to each other is read on the coordinator itself.
      const nodes = new Set(all(/Node: host=(.*)/).filter((node) => !node.startsWith("localhost ")));
      return { text, parts, nodes };
    }),
  );
}

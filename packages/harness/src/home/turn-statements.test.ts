/** What one turn asks of its store, to the statement: each is paid for by every turn of every thread. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { scriptedModel } from "@palimpsest/testing";
import { startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { Client } from "pg";
import { plainCounter } from "../../test/agent/agent-kit.ts";
import { type Heard, heardBySqlite, listenToPostgres, transactionsOf } from "../../test/stores/heard-statements.ts";
import { openStore } from "../stores/open.ts";
import type { Store } from "../stores/store.ts";
import { createDeepAgent } from "./create-deep-agent.ts";

test("statements and transactions of one turn in SQLite", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const turn = await laterTurn(t, await openStore(join(folder, "threads.db")));
  const heard = await heardBySqlite(turn);
  // Of each record also the shape of its header is looked up, and of each usage its prompt, in the same transaction; each append
  // marks the thread as one whose index lacks records.
  assert.deepEqual(summaryOf(heard), { statements: 37, transactions: 4 }, heard.statements.join("\n"));
});

test("an agent that knows nothing of a thread reads its records once, what was reported on them included", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const store = await openStore(join(folder, "threads.db"));
  await laterTurn(t, store);
  const options = { model: scriptedModel(() => "It is noted."), counter: plainCounter, window: 1_000_000 };
  const agent = createDeepAgent({ ...options, store: store.forUser(store.userId), summarizer: null });
  t.after(() => agent.close());
  const { statements } = await heardBySqlite(() => agent.generate({ threadId: "t", prompt: "And now?" }));
  const reads = statements.filter((sql) => /^SELECT seq,[^;]* FROM records/s.test(sql));
  assert.equal(reads.length, 1, reads.join("\n"));
});

test("statements, transactions and round trips of one turn in PostgreSQL", async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  const ear = await listenToPostgres(server);
  t.after(() => ear.stop());
  const turn = await laterTurn(t, await openStore(ear.url));
  const heard = await ear.heard(turn);
  assert.deepEqual(
    { ...summaryOf(heard), roundTrips: heard.roundTrips },
    { statements: 4, transactions: 4, roundTrips: 4 },
    heard.statements.join("\n"),
  );
  const client = new Client({ connectionString: server.url() });
  await client.connect();
  const written = async () => {
    const { rows } = await client.query("SELECT pg_current_wal_insert_lsn() - '0/0' AS bytes");
    return Number(rows[0].bytes);
  };
  const before = await written();
  for (let count = 0; count < 10; count += 1) await turn();
  const bytes = ((await written()) - before) / 10;
  await client.end();
  t.diagnostic(`${Math.round(bytes)} bytes of write-ahead log for a turn of four messages`);
  assert.ok(bytes < MOST_WAL, `${bytes} bytes`);
});

/** Of a turn with a call and its result; a page that is written for the first time since a checkpoint is in it whole. */
const MOST_WAL = 12_288;

const summaryOf = (heard: Heard) => ({ statements: heard.statements.length, transactions: transactionsOf(heard) });

/** A question, a call, its result and an answer, on a thread that has its title and whose request is known. */
async function laterTurn(t: TestContext, store: Store): Promise<() => Promise<void>> {
  const model = scriptedModel(({ index }) =>
    index % 2 === 0 ? { text: "I'll note it.", calls: [{ name: "write_todos", input: "not a list" }] } : "It is noted.",
  );
  const agent = createDeepAgent({ model, store, counter: plainCounter, window: 1_000_000, summarizer: null });
  t.after(async () => {
    await agent.close();
    await store.close();
  });
  const turn = async () => {
    const { end } = await agent.generate({ threadId: "t", prompt: "Note that the tide turns at six." });
    assert.equal(end.kind, "answered");
  };
  await turn();
  await turn();
  return turn;
}

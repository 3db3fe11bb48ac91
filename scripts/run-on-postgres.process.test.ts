// The command and a real PostgreSQL meet here: no package may know both the binary and the test server.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type PostgresServer, startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { Client } from "pg";
import { desk, type Ended } from "../packages/cli/test/binary.ts";
import { openPostgres } from "../packages/harness/src/stores/postgres.ts";

let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(() => server?.stop());

for (const engine of ["SQLite", "PostgreSQL"]) {
  test(`a run that fails on ${engine} is a sentence and a document, never a stack trace`, async (t) => {
    const { run, file } = desk(t);
    const store = engine === "SQLite" ? file("log.db") : server.url();
    const config = file(
      "unreachable.yaml",
      "models: [{name: m, provider: openai-compatible, model: m, base_url: 'http://nowhere.invalid/v1', api_key: k, max_input_tokens: 8000}]\n",
    );
    const failed = await run("run", "Hello.", "--store", store, "--config", config, "--json");
    told(failed, "unreachable");
  });
}

test("a run on a thread that is held says so, as a document too", async (t) => {
  const { run } = desk(t);
  assert.equal((await run("run", "Hello.", "--store", server.url(), "--thread", "held")).code, 0);
  const store = await openPostgres(server.url());
  t.after(() => store.close());
  await store.acquireLease("held", "another run", 600_000);
  told(await run("run", "Hello again.", "--store", server.url(), "--thread", "held", "--wait", "0", "--json"), "busy");
});

test("a database that can't be reached is told in a sentence, as a document too", async (t) => {
  const { run } = desk(t);
  told(await run("run", "Hello.", "--store", "postgres://postgres@127.0.0.1:1/x", "--json"), "unavailable");
});

test("a turn that was answered stays answered when nothing can be learned from it now", async (t) => {
  const { run } = desk(t);
  const store = `${server.url()}&schema=unlearned`;
  assert.equal((await run("run", "Hello.", "--store", store)).code, 0);
  const client = new Client(server.url());
  await client.connect();
  await client.query("ALTER TABLE unlearned.outbox RENAME COLUMN leased TO gone");
  await client.end();
  const { code, stdout, stderr } = await run("run", "My name is Ada and I like tea.", "--store", store, "--json");
  assert.equal(code, 0, stderr);
  assert.match(stdout, /"end":\s*"answered"/);
  assert.match(stderr, /warning: .*learned/);
});

function told({ code, stdout, stderr }: Ended, expected: string): void {
  assert.equal(code, 1, stderr);
  const { error } = JSON.parse(stdout) as { error: { code: string; message: string } };
  assert.equal(error.code, expected, error.message);
  assert.match(stderr, /^palimpsest: .+$/m);
  assert.doesNotMatch(stderr, /^\s+at .+:\d+:\d+/m);
}

/** A process that takes a lease on each thread it is told of, says what came of it, and lives until it is killed. */
import { createInterface } from "node:readline";
import { openSqlite } from "../../src/stores/sqlite.ts";

const store = openSqlite({ path: process.argv[2]! });
process.stdout.write("ready\n");
for await (const threadId of createInterface(process.stdin)) {
  const { kind } = await store.acquireLease(threadId, `owner-${process.pid}`, 3_600_000);
  process.stdout.write(`${kind}\n`);
}

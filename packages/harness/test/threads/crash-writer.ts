/**
 * A child process for the crash tests: appends numbered pairs of messages for ever and reports each pair only after it
 * was acknowledged. It is killed from outside; it must not tidy up.
 */
import { writeSync } from "node:fs";
import { openSqlite } from "../../src/stores/sqlite.ts";
import { appendMessages } from "../../src/thread/acts.ts";
import { threadDeps } from "../../src/thread/writer.ts";

const [path, threadId] = process.argv.slice(2) as [string, string];
const store = openSqlite({ path });
// The same owner takes the lease again at once; a stranger would have to wait for the dead one's to run out.
const taken = await store.acquireLease(threadId, "crash-writer", 30_000);
if (taken.kind !== "acquired") throw new Error(`no lease: ${taken.kind}`);
const writer = { ...threadDeps(store), lease: taken.lease };

for (let next = (await store.head(threadId))!.messages; ; next += 2) {
  const pair = [next, next + 1].map((number) => ({ number, filler: "x".repeat((number * 37) % 4000) }));
  const result = await appendMessages(
    writer,
    pair.map((body) => ({ dialect: "openai", origin: "user", body })),
  );
  if (result.kind !== "committed") throw new Error(`not committed: ${result.kind}`);
  writeSync(1, `${next + 2}\n`);
}

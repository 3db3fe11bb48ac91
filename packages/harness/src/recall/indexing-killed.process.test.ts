// A builder that is killed while much is left to do, and the next one, which goes on. What stands of a batch is the engine's promise.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { writeThread } from "@palimpsest/testing/internal/thread-writer";
import { appendUnindexed, indexOf } from "../../test/recall/unindexed.ts";
import { openStore } from "../stores/open.ts";
import { catchUp, indexJob } from "./catch-up.ts";
import { type IndexingEvent, startIndexing } from "./indexing.ts";
import { INDEX_QUEUE } from "./stored-index.ts";

const MESSAGES = 9000;

for (const engine of ["SQLite", "PostgreSQL"] as const) {
  test(`an index that is built when its process is killed is finished by the next, which goes on: ${engine}`, async (t) => {
    const target = engine === "SQLite" ? fileFor(t) : await serverFor(t);
    const store = await openStore(target);
    t.after(() => store.close());
    await appendUnindexed(await writeThread(store, "t"), MESSAGES);
    await catchUp(store, "t");
    const whole = await indexOf(store, "t");
    await store.outbox.queue!("t", indexJob("start", Date.now()));

    await buildUntilKilled(target);
    const [{ indexed } = { indexed: 0 }] = await store.search.lineage("t");
    assert.ok(indexed > 0 && indexed < MESSAGES, `${indexed} records when it was killed`);
    const [job] = await store.outbox.list(INDEX_QUEUE);
    assert.deepEqual(job?.payload, { from: "here" });

    const events: IndexingEvent[] = [];
    const alive = setInterval(() => {}, 1000);
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const { stop } = await startIndexing(store, {
      pollMs: 50,
      // The lease of the killed one has run out; PostgreSQL sees that by its own clock.
      clock: () => new Date(Date.now() + 3_600_000),
      onEvent(event) {
        events.push(event);
        if (event.type === "index-end") resolve();
      },
    });
    await ended;
    clearInterval(alive);
    await stop();
    const [first] = events;
    assert.ok(first?.type === "index-progress" && first.indexed >= indexed, "it did not begin again");
    assert.equal(await indexOf(store, "t"), whole);
    assert.deepEqual(await store.outbox.list(INDEX_QUEUE), []);
  });
}

function fileFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-killed-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "store.db");
}

async function serverFor(t: TestContext): Promise<string> {
  const server = await startPostgres();
  t.after(() => server.stop());
  return server.url();
}

/** It stands still once something is indexed, so that it can't have been faster than its end. */
async function buildUntilKilled(target: string): Promise<void> {
  const local = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const script = `
    import { openStore } from ${local("../stores/open.ts")};
    import { startIndexing } from ${local("./indexing.ts")};
    import { writeSync } from "node:fs";
    const store = await openStore(${JSON.stringify(target)});
    await startIndexing(store, {
      leaseMs: 2000,
      finds: "queued",
      onEvent(event) {
        if (event.type !== "index-progress" || event.indexed === 0) return;
        writeSync(1, "indexed\\n");
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      },
    });
    setInterval(() => {}, 1000);`;
  const args = ["--conditions=palimpsest-source", "--input-type=module", "-e", script];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  await Promise.race([once(child.stdout, "data"), closed]);
  child.kill("SIGKILL");
  assert.deepEqual(await closed, [null, "SIGKILL"]);
}

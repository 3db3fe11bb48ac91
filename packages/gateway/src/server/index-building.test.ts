import assert from "node:assert/strict";
import { test } from "node:test";
import { createThread } from "palimpsest/internal/threads";
import { threadDeps } from "palimpsest/session";
import { openSqlite } from "palimpsest/stores";
import { createGateway } from "../index.ts";
import { tenths } from "./background.ts";
import type { LogLine } from "./log.ts";

test("an index is worth a line for each tenth, its end and what failed", () => {
  const lineOf = tenths();
  const of = { userId: "u", threadId: "t" };
  const at = (indexed: number) => lineOf({ type: "index-progress", ...of, indexed, records: 100 });
  const shown = [0, 5, 10, 19, 40, 100].map((indexed) => at(indexed)?.indexed ?? null);
  assert.deepEqual(shown, [0, null, 10, null, 40, null]);
  assert.equal(lineOf({ type: "index-end", ...of })?.index, "built");
  assert.equal(at(100), null, "what is built already is no news");
  assert.equal(lineOf({ type: "index-end", ...of }), null);
  const failed = lineOf({ type: "index-fail", ...of, reason: "disk full" });
  assert.deepEqual([failed?.level, failed?.index, failed?.error], ["error", "failed", "disk full"]);
});

test("a gateway that listens builds what was asked for, says so, and counts what is missing", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  const gateway = createGateway({ store, log: (line) => told(line) });
  t.after(async () => {
    await gateway.close();
    await store.close();
  });
  const { promise: built, resolve } = Promise.withResolvers<void>();
  const told = (line: LogLine): void => {
    if ("index" in line && line.index === "built") resolve();
  };
  await createThread(threadDeps(store), { id: "t" }, [{ kind: "state", patch: { title: "one record" } }]);
  const job = { queue: "index", key: "", payload: { from: "start" }, delayMs: 0, maxAttempts: 5, now: Date.now() };
  assert.equal(await store.outbox.queue?.("t", job), "queued");
  const { url } = await gateway.listen({ port: 0 });
  await built;
  const metrics = await (await fetch(`${url}/metrics`)).text();
  assert.match(metrics, /^palimpsest_index_missing_records 0$/m);
  assert.match(metrics, /^palimpsest_queue_length\{queue="index"\} \d$/m);
});

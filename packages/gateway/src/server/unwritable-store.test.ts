// A store that has no room left: requests pass, and it is heard in the log, in the metrics and at /readyz until there is room again.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { startProviderServer } from "@palimpsest/testing";
import { createThread } from "palimpsest/internal/threads";
import { appendMessages, threadDeps } from "palimpsest/session";
import { openSqlite } from "palimpsest/stores";
import { ManualTime } from "../../test/manual-time.ts";
import { PATIENT } from "../../test/running.ts";
import { createGateway } from "../create-gateway.ts";
import type { LogLine } from "./log.ts";

const LONG = 400_000;

/** A database that has a long thread `big` in it, and next to no room beside it. */
async function fullDatabase(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-full-"));
  const path = join(folder, "log.db");
  const roomy = openSqlite({ path });
  const deps = threadDeps(roomy);
  await createThread(deps, { id: "big" });
  const taken = await roomy.acquireLease("big", "o", 60_000);
  assert.ok(taken.kind === "acquired");
  const writer = { ...deps, lease: taken.lease };
  await appendMessages(writer, [{ dialect: "openai", origin: "user", body: { role: "user", content: words(LONG) } }]);
  await roomy.releaseLease(taken.lease);
  await roomy.close();
  const looked = new DatabaseSync(path);
  const pages = Number(looked.prepare("PRAGMA page_count").get()!["page_count"]);
  looked.close();
  const store = openSqlite({ path, maxPages: pages + 60 });
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return store;
}

async function place(t: TestContext) {
  const store = await fullDatabase(t);
  const provider = await startProviderServer({ window: 1_000_000, respond: () => "ok" });
  const time = new ManualTime();
  const lines: string[] = [];
  const log = (line: LogLine) => {
    if ("store" in line) lines.push(`${line.level} ${line.store} ${line.code} ${line.failures}`);
  };
  const entry = { name: "gpt", provider: "openai" as const, model: "m", base_url: provider.url, api_key: "k" };
  const config = { models: [{ ...entry, max_input_tokens: 1_000_000 }], memory: { enabled: false } };
  const gateway = createGateway({ store, config, log, clock: time.clock, after: time.after, ...PATIENT });
  const { url } = await gateway.listen({ port: 0 });
  t.after(async () => {
    await gateway.close();
    await provider.close();
  });
  const get = (path: string) => fetch(url + path);
  return {
    store,
    time,
    lines,
    get,
    readyz: async () => (await get("/readyz")).status,
    async ask(content: string) {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "gpt", messages: [{ role: "user", content }] }),
      });
      await response.text();
      return [response.status, response.headers.get("x-palimpsest-match")];
    },
  };
}

/** Text that doesn't get shorter when it is packed. */
function words(length: number): string {
  let text = "";
  while (text.length < length) text += `${Math.random().toString(36).slice(2)} `;
  return text;
}

test("requests pass while the store has no room, and the operator hears of it until there is room again", async (t) => {
  const at = await place(t);
  assert.equal(await at.readyz(), 200);
  assert.deepEqual(await at.ask(words(LONG)), [200, "passed"]);
  assert.deepEqual(at.lines, ["error failing full 1"]);
  assert.equal(await at.readyz(), 503);
  assert.match(await (await at.get("/readyz")).text(), /the store can't be written/);
  await at.ask(words(LONG));
  await at.time.pass(60_000);
  while (at.lines.length < 2) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(at.lines.slice(1), ["error failing full 2"]);
  assert.match(await (await at.get("/metrics")).text(), /palimpsest_store_failures_total\{code="full"\} 2\n/);
  assert.equal(await at.store.deleteThread("big"), "deleted");
  assert.equal(await at.readyz(), 200);
  assert.deepEqual(at.lines.slice(2), ["info recovered full 2"]);
  assert.deepEqual(await at.ask(words(1000)), [200, "new"]);
});

test("an answer that can't be kept is heard of, too", async (t) => {
  const at = await place(t);
  const isKept = async () => (await at.ask(words(5_000)))[1] !== "passed";
  while (await isKept());
  assert.deepEqual(at.lines[0], "error failing full 1");
});

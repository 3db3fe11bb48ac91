/** A program that only talks to its agent learns from it: nobody starts a worker, nobody drains a queue. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { until } from "@palimpsest/testing/internal/queue-kit";
import { createAgentFromConfig } from "../home/from-config.ts";
import { configSchema } from "../home/schema.ts";
import { openSqlite } from "../stores/sqlite.ts";

const TOLD = "My name is Ada and I prefer short answers.";

test("what a turn told is learned after a pause, without anybody asking", async (t) => {
  const { agent, facts } = await setUp(t, { debounce_seconds: 0 });
  await agent.generate({ threadId: "t", prompt: TOLD });
  await until(async () => (await facts()).length > 0, "it is learned");
});

test("a compaction wakes the worker: what it hides is learned at once, however long the pause", async (t) => {
  const { agent, facts } = await setUp(t, { debounce_seconds: 3600 });
  await agent.generate({ threadId: "t", prompt: TOLD });
  for (const bird of ["heron", "crane", "stork"])
    await agent.generate({ threadId: "t", prompt: `${bird} `.repeat(400) });
  assert.equal((await agent.compact("t")).kind, "compacted");
  assert.deepEqual(await facts(), []);
  await agent.generate({ threadId: "t", prompt: "Which birds were they?" });
  await until(async () => (await facts()).length > 0, "it is learned");
});

test("a closed agent learns no more; what it was told waits for the next one", async (t) => {
  const { agent, store, facts } = await setUp(t, { debounce_seconds: 3600 });
  await agent.generate({ threadId: "t", prompt: TOLD });
  await agent.close();
  await store.outbox.makeDue("t", "memory");
  const [job] = await store.outbox.list();
  assert.deepEqual([job!.state, job!.attempts, await facts()], ["waiting", 0, []]);
});

test("a process that has something to learn later ends when its work is done", async (t) => {
  const home = folder(t);
  const local = (path: string) => JSON.stringify(new URL(path, import.meta.url));
  const script = `import { configSchema } from ${local("../home/schema.ts")};
    import { openSqlite } from ${local("../stores/sqlite.ts")};
    import { createAgentFromConfig } from ${local("../home/from-config.ts")};
    const [home] = process.argv.slice(1);
    const store = openSqlite({ path: home + "/log.db" });
    const { agent } = await createAgentFromConfig({ home, config: configSchema.parse({}), store });
    await agent.generate({ threadId: "t", prompt: ${JSON.stringify(TOLD)} });`;
  const args = ["--conditions=palimpsest-source", "--input-type=module", "-e", script, home];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  assert.deepEqual(await once(child, "exit"), [0, null]);
});

function folder(t: TestContext): string {
  const home = mkdtempSync(join(tmpdir(), "palimpsest-learning-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

async function setUp(t: TestContext, memory: { readonly debounce_seconds: number }) {
  const home = folder(t);
  const store = openSqlite({ path: ":memory:" });
  const summarization = { keep: { type: "messages", value: 2 } };
  const made = await createAgentFromConfig({ home, store, config: configSchema.parse({ memory, summarization }) });
  t.after(async () => {
    await made.agent.close();
    await store.close();
  });
  const facts = async () => (await made.memory!.repository.read({ userId: "default", agentName: null })).facts;
  return { agent: made.agent, store, facts };
}

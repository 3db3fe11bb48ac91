// Gateways and workers as processes of their own, their clocks two hours apart, of which one hangs for longer than its leases.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { threadDeps, verify } from "palimpsest/session";
import { openStore } from "palimpsest/stores";
import { Client } from "pg";
import { eventsOf, jsonOf, refusalOf, until } from "../test/events.ts";
import { Process } from "../test/process.ts";
import { upstream } from "../test/upstream.ts";

const HOUR = 3_600_000;

test("a gateway that hangs for longer than its lease: its client gets an error, its late answer is not written, and the thread goes on elsewhere", async (t) => {
  const at = await place(t);
  const [ahead, behind] = await at.start("./serving-process.ts");
  const asked = at.post(ahead, "/api/threads/t/runs", { prompt: "Tell me.", stream: true });
  const request = await at.provider.next();
  request.say("Once");
  const own = eventsOf(await asked);
  await until(own, ({ data }) => data["text"] === "Once");
  const run = (await asked).headers.get("x-palimpsest-run")!;
  assert.equal(await refusalOf(await at.post(behind, "/api/threads/t/runs", { prompt: "And?" })), "409 busy");
  const other = eventsOf(await fetch(`${behind.url}/api/runs/${run}/stream`));
  await until(other, ({ data }) => data["text"] === "Once");
  ahead.child!.kill("SIGSTOP");
  await at.leasesEnd();
  const closed = await until(other, ({ data }) => data.type === "run-end");
  assert.deepEqual(closed.at(-1)!.data["end"], { kind: "aborted" });
  const next = at.post(behind, "/api/threads/t/runs", { prompt: "And?" });
  const goingOn = await at.provider.next();
  goingOn.say("Two.");
  goingOn.end();
  assert.equal((await jsonOf(await next))["text"], "Two.");
  request.say(" upon a time.");
  request.end();
  ahead.child!.kill("SIGCONT");
  const late = await until(own, ({ data }) => data.type === "run-end");
  assert.notEqual((late.at(-1)!.data["end"] as { kind: string }).kind, "answered");
  assert.deepEqual(await at.said("t"), ["user Tell me.", "aborted Once", "user And?", "model Two."]);
});

test("the same on a compatible endpoint: a request that comes again elsewhere is answered there, and the log has one answer", async (t) => {
  const at = await place(t);
  const [ahead, behind] = await at.start("./serving-process.ts");
  const body = { model: "small", stream: true, messages: [{ role: "user", content: "Tell me." }] };
  const asked = at.post(ahead, "/v1/chat/completions", body);
  const request = await at.provider.next();
  request.say("Once");
  const first = await asked;
  const threadId = first.headers.get("x-palimpsest-thread")!;
  ahead.child!.kill("SIGSTOP");
  await at.leasesEnd();
  const again = at.post(behind, "/v1/chat/completions", body);
  const elsewhere = await at.provider.next();
  elsewhere.say("Two.");
  elsewhere.end();
  const second = await again;
  assert.deepEqual([second.status, second.headers.get("x-palimpsest-thread")], [200, threadId]);
  assert.match(await second.text(), /Two\..*\[DONE\]/s);
  request.say(" upon a time.");
  request.end();
  ahead.child!.kill("SIGCONT");
  await first.text().catch(() => "");
  assert.deepEqual(await at.said(threadId), ["user Tell me.", "model Two."]);
});

test("a worker that hangs for longer than its job's lease: another one learns from the turn, and what the first learned late is not there twice", async (t) => {
  const at = await place(
    t,
    "memory: { enabled: true, storage_class: postgres, debounce_seconds: 0 }\ngateway: { jobs: false }\n",
  );
  const [gateway] = await at.start("./serving-process.ts");
  const [first, second] = at.processes("./working-process.ts");
  const turn = async (threadId: string) => {
    const asked = at.post(gateway, `/api/threads/${threadId}/runs`, { prompt: `I own a boat named ${threadId}.` });
    const request = await at.provider.next();
    request.say("Noted.");
    request.end();
    assert.equal((await jsonOf(await asked))["end"], "answered");
  };
  const fact = (threadId: string) =>
    JSON.stringify({
      additions: [
        {
          content: `User owns a boat named ${threadId}`,
          category: "context",
          confidence: 0.95,
          quote: `I own a boat named ${threadId}.`,
          seqs: [1],
          durable: true,
          about: "user",
        },
      ],
    });
  await turn("ada");
  await first.start();
  const stuck = await at.provider.next();
  first.child!.kill("SIGSTOP");
  await at.leasesEnd();
  await second.start();
  const taken = await at.provider.next();
  taken.say(fact("ada"));
  taken.end();
  while ((await at.store.outbox!.list("memory")).length > 0) await pause(20);
  await second.kill();
  stuck.say(fact("ada"));
  stuck.end();
  first.child!.kill("SIGCONT");
  // Its next job is the sign that it is done with the late one.
  await turn("bob");
  for (let request = await at.provider.next(); ; request = await at.provider.next()) {
    const isNext = JSON.stringify(request.messages).includes("named bob");
    request.say(fact(isNext ? "bob" : "ada"));
    request.end();
    if (isNext) break;
  }
  while ((await at.store.outbox!.list("memory")).length > 0) await pause(20);
  const { document } = (await at.store.memories!.get("default", ""))!;
  const facts = (JSON.parse(document) as { facts: { content: string }[] }).facts.map(({ content }) => content);
  assert.deepEqual(facts.toSorted(), ["User owns a boat named ada", "User owns a boat named bob"]);
});

/** Each pair of processes has clocks that are an hour ahead and an hour behind. */
async function place(t: TestContext, more = "") {
  const provider = await upstream(t);
  const server = await startPostgres();
  const directory = mkdtempSync(join(tmpdir(), "palimpsest-stopped-"));
  const models = more.includes("memory:") ? provider.config.replace("memory: { enabled: false }", "") : provider.config;
  writeFileSync(join(directory, "config.yaml"), `${models}${more}store: { url: "${server.url()}" }\n`);
  const store = await openStore(server.url());
  const all: Process[] = [];
  t.after(async () => {
    await Promise.all(all.map((one) => one.kill()));
    await store.close();
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  const processes = (script: ConstructorParameters<typeof Process>[0]): [Process, Process] => {
    const pair: [Process, Process] = [
      new Process(script, directory, { aheadMs: HOUR }),
      new Process(script, directory, { aheadMs: -HOUR }),
    ];
    all.push(...pair);
    return pair;
  };
  return {
    provider,
    store,
    processes,
    async start(script: ConstructorParameters<typeof Process>[0]) {
      const pair = processes(script);
      await Promise.all(pair.map((one) => one.start()));
      return pair;
    },
    post: ({ url }: Process, path: string, body: object) =>
      fetch(url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    /** As if a minute had passed without a word from anybody. */
    async leasesEnd() {
      const client = new Client({ connectionString: server.url() });
      await client.connect();
      const minute = "interval '1 minute'";
      await client.query(`UPDATE palimpsest.threads SET lease_until = lease_until - ${minute}`);
      await client.query(`UPDATE palimpsest.runs SET until = until - ${minute}`);
      await client.query(`UPDATE palimpsest.outbox SET until = until - 60000`);
      await client.end();
    },
    /** Of a thread whose log is whole. */
    async said(threadId: string): Promise<string[]> {
      assert.equal((await verify(threadDeps(store), threadId)).kind, "whole");
      const said: string[] = [];
      for await (const { record } of store.records(threadId, { kinds: ["message"] })) {
        if (record.kind !== "message") continue;
        const { content } = JSON.parse(record.body) as { content: string | { text: string }[] };
        const text = typeof content === "string" ? content : content.map((part) => part.text).join("");
        said.push(`${record.origin} ${text}`);
      }
      return said;
    },
  };
}

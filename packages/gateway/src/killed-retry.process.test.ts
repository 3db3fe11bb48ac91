// A gateway on a SQLite file that is killed in the middle of an answer, and what its clients and neighbors find afterwards.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openHome } from "palimpsest/home";
import { jsonOf, refusalOf } from "../test/events.ts";
import { Process } from "../test/process.ts";
import { upstream } from "../test/upstream.ts";

async function place(t: TestContext) {
  const provider = await upstream(t);
  const directory = mkdtempSync(join(tmpdir(), "palimpsest-killed-"));
  writeFileSync(join(directory, "config.yaml"), provider.config);
  const all: Process[] = [];
  t.after(async () => {
    await Promise.all(all.map((one) => one.kill()));
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    provider,
    directory,
    async start(script: ConstructorParameters<typeof Process>[0] = "./serving-process.ts"): Promise<Process> {
      const one = new Process(script, directory);
      all.push(one);
      await one.start();
      return one;
    },
    post: ({ url }: Process, path: string, body: object) =>
      fetch(url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
  };
}

const ASKED = { model: "small", stream: true, messages: [{ role: "user", content: "Tell me." }] };

test("a client that repeats its request after the gateway was killed extends its thread instead of forking it", async (t) => {
  const at = await place(t);
  const killed = await at.start();
  const asked = at.post(killed, "/v1/chat/completions", ASKED);
  (await at.provider.next()).say("Once");
  const first = await asked;
  const thread = first.headers.get("x-palimpsest-thread");
  await killed.kill();
  await first.text().catch(() => {});
  const again = at.post(await at.start(), "/v1/chat/completions", ASKED);
  const told = await at.provider.next();
  told.say("Once upon a time.");
  told.end();
  const second = await again;
  assert.deepEqual(
    [second.headers.get("x-palimpsest-match"), second.headers.get("x-palimpsest-thread")],
    ["extended", thread],
  );
  assert.match(await second.text(), /\[DONE\]/);
});

test("a run on a thread whose gateway was killed begins at once", async (t) => {
  const at = await place(t);
  const killed = await at.start();
  const asked = at.post(killed, "/api/threads/t/runs", { prompt: "Tell me.", stream: true });
  (await at.provider.next()).say("Once");
  const first = await asked;
  await killed.kill();
  await first.text().catch(() => {});
  const again = at.post(await at.start(), "/api/threads/t/runs", { prompt: "And?" });
  const told = await at.provider.next();
  told.say("Again.");
  told.end();
  assert.equal((await jsonOf(await again))["text"], "Again.");
});

test("two gateways, a worker and a chat that live on one home don't free each other's leases", async (t) => {
  const at = await place(t);
  const [first, second] = [await at.start(), await at.start()];
  await at.start("./working-process.ts");
  const asked = at.post(first, "/api/threads/t/runs", { prompt: "Tell me." });
  const told = await at.provider.next();
  assert.equal(await refusalOf(await at.post(second, "/api/threads/t/runs", { prompt: "Me too." })), "409 busy");
  const home = await openHome({ home: at.directory, cwd: at.directory, env: { HOME: at.directory } });
  const { agent } = await home.agent();
  const { end } = await agent.stream({ threadId: "t", prompt: "And me." }).result;
  assert.equal(end.kind, "busy");
  await agent.close();
  await home.close();
  told.say("Once.");
  told.end();
  assert.equal((await jsonOf(await asked))["text"], "Once.");
});

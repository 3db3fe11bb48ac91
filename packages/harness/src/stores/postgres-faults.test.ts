import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createConnection, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type PostgresServer, startPostgres } from "../testing/postgres-server.ts";
import { say, writeThread } from "../testing/thread-writer.ts";
import { means, prepare, verify } from "../threads/index.ts";
import { openPostgres } from "./postgres.ts";
import type { Store } from "./store.ts";
import { StoreError } from "./store-error.ts";

let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(() => server.stop());
/** Whatever became of the test before. */
beforeEach(() => server.start());

/** A busy machine may take long to bring a server back; what is tested is that an append waits, not for how long. */
const PATIENT = { reconnectMs: 180_000 };

test("a restart of the server between two appends goes unnoticed", async () => {
  const store = await openPostgres(server.url(), PATIENT);
  const writer = await writeThread(store, "restarted");
  await say(writer, "one");
  await server.halt();
  await server.start();
  assert.equal((await say(writer, "two")).kind, "committed");
  assert.equal((await store.load("restarted"))!.records.length, 2);
  await store.close();
});

test("an append waits for a server that comes back, and says so when it doesn't; nothing is written twice", async () => {
  const store = await openPostgres(server.url(), PATIENT);
  const hasty = await openPostgres(server.url(), { reconnectMs: 200 });
  const writer = await writeThread(store, "waiting");
  await server.halt();
  const late = say(writer, "one");
  late.catch(() => {});
  const refused = await hasty.head("waiting").catch((error: unknown) => error);
  assert.ok(refused instanceof StoreError && refused.code === "unavailable", String(refused));
  await server.start();
  assert.equal((await late).kind, "committed");
  assert.deepEqual(await textsOf(hasty, "waiting"), ["one"]);
  await Promise.all([store.close(), hasty.close()]);
});

test("a crash of the server in mid-append: acknowledged messages stand, each once", async () => {
  const store = await openPostgres(server.url(), PATIENT);
  const writer = await writeThread(store, "crashed");
  const acknowledged: string[] = [];
  for (let round = 0; round < 5; round++) {
    let on = true;
    const writing = (async () => {
      while (on) {
        const text = `message ${acknowledged.length}`;
        assert.equal((await say(writer, text)).kind, "committed");
        acknowledged.push(text);
      }
    })();
    const stopped = writing.finally(() => {
      on = false;
    });
    stopped.catch(() => {});
    try {
      await pause(10 + round * 7);
      await server.crash();
      await server.start();
    } finally {
      on = false;
    }
    await stopped;
  }
  assert.deepEqual(await textsOf(store, "crashed"), acknowledged);
  await assertWhole(store, "crashed");
  await store.close();
});

test("an append whose answer is lost on the way is found to stand and is not repeated", async () => {
  const direct = await openPostgres(server.url());
  const proxy = await startProxy(join(server.folder, ".s.PGSQL.5432"));
  const store = await openPostgres(`postgres://postgres@localhost/postgres?host=${proxy.folder}`);
  const writer = await writeThread(store, "unanswered");
  await say(writer, "one");
  proxy.loseNextAnswer();
  assert.equal((await say(writer, "two")).kind, "committed");
  assert.equal(proxy.lost(), 1);
  assert.deepEqual(await textsOf(direct, "unanswered"), ["one", "two"]);
  await assertWhole(direct, "unanswered");
  await store.close();
  await proxy.stop();
  await direct.close();
});

test("a lost connection doesn't excuse a writer that another one has overtaken", async () => {
  const store = await openPostgres(server.url(), PATIENT);
  const writer = await writeThread(store, "overtaken");
  const stale = await prepare(writer, (await store.head("overtaken"))!, []);
  await say(writer, "one");
  await server.halt();
  const late = store.append("overtaken", stale);
  late.catch(() => {});
  await server.start();
  assert.deepEqual(await late, { kind: "conflict", version: 1 });
  await store.close();
});

test("kill -9 of a writer: nothing it was told was kept is lost, and the thread goes on", async () => {
  const store = await openPostgres(server.url(), PATIENT);
  for (let round = 0; round < 20; round++) {
    const told = await writeUntilKilled(round);
    const head = (await store.head("killed"))!;
    assert.ok(head.version >= told, `told ${told}, found ${head.version}`);
    assert.ok(head.version <= told + 1, `an unasked message: told ${told}, found ${head.version}`);
  }
  const texts = await textsOf(store, "killed");
  assert.deepEqual(
    texts,
    texts.map((_, index) => `message ${index + 1}`),
  );
  assert.ok(texts.length >= 20);
  await assertWhole(store, "killed");
  await store.close();
});

/** Resolves to the last version the writer was told of before it was killed. */
async function writeUntilKilled(round: number): Promise<number> {
  const local = (path: string) => JSON.stringify(new URL(path, import.meta.url));
  const script = `import { openPostgres } from ${local("./postgres.ts")};
    import { say, writeThread } from ${local("../testing/thread-writer.ts")};
    const store = await openPostgres(${JSON.stringify(server.url())});
    const writer = await writeThread(store, "killed");
    for (let version = (await store.head("killed")).version + 1; ; version += 1) {
      await say(writer, "message " + version);
      process.stdout.write(version + "\\n");
    }`;
  const args = ["--conditions=palimpsest-source", "--input-type=module", "-e", script];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  await once(child.stdout, "data");
  await pause(round * 2);
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
  return Number(output.slice(0, output.lastIndexOf("\n")).split("\n").at(-1));
}

async function textsOf(store: Store, thread: string): Promise<string[]> {
  const texts: string[] = [];
  for await (const { record } of store.records(thread, { kinds: ["message"] })) {
    if (record.kind === "message") texts.push((JSON.parse(record.body) as { content: string }).content);
  }
  return texts;
}

async function assertWhole(store: Store, thread: string): Promise<void> {
  const verdict = await verify(means(store), thread);
  assert.equal(verdict.kind, "whole", JSON.stringify(verdict));
}

/** Stands between the driver and the server and can swallow an answer, as a network does. */
async function startProxy(target: string) {
  const folder = await mkdtemp(join(tmpdir(), "pal-proxy-"));
  let armed = false;
  let lost = 0;
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = createConnection(target);
    let dropping = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
    }
    client.on("data", (chunk) => {
      // Whatever is sent from here on is answered to nobody.
      if (armed && chunk.includes("INSERT INTO")) [dropping, armed] = [true, false];
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      if (!dropping) return client.write(chunk);
      // The server has answered, so the transaction stands; only the client never hears of it.
      if (chunk.includes("INSERT") || chunk.includes("SELECT 1")) {
        lost += 1;
        client.destroy();
        upstream.destroy();
      }
    });
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  });
  proxy.listen(join(folder, ".s.PGSQL.5432"));
  await once(proxy, "listening");
  return {
    folder,
    loseNextAnswer: () => {
      armed = true;
    },
    lost: () => lost,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

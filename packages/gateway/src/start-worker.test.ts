import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { running } from "../test/running.ts";
import { startWorker } from "./index.ts";

const CONFIG = `
title: { enabled: false }
memory: { enabled: true, debounce_seconds: 0 }
gateway: { jobs: false, retention_days: 30 }
`;

test("a gateway without jobs queues what is to be learned, and a worker on the same store learns it and sweeps", async (t) => {
  const later = new Date(Date.now() + 40 * 86_400_000);
  const at = await running(t, { config: CONFIG, clock: () => later });
  const { outbox } = at.home.store;
  const asked = await fetch(`${at.url}/api/threads/t/runs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ prompt: "My name is Ada and I prefer short answers." }),
  });
  assert.equal(asked.status, 200);
  const waiting = await outbox!.list("memory");
  assert.deepEqual(
    waiting.map(({ threadId, state, attempts }) => [threadId, state, attempts]),
    [["t", "waiting", 0]],
  );
  const learning = await startWorker({ home: at.home });
  while ((await outbox!.list("memory")).length > 0) await pause(10);
  await learning.close();
  assert.equal((await at.home.store.header("t"))?.id, "t");
  const sweeping = await startWorker({ home: at.home, clock: () => later });
  while ((await at.home.store.header("t")) !== undefined) await pause(10);
  await sweeping.close();
});

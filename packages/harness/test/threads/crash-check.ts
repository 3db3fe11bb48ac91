/** Kills a writer in the middle of its appends, again and again, and holds the log to what was acknowledged. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSqlite } from "../../src/stores/sqlite.ts";
import { rebuildHead, replay, verify } from "../../src/thread/audit.ts";
import { createThread, threadDeps } from "../../src/thread/writer.ts";

const WRITER = fileURLToPath(new URL("./crash-writer.ts", import.meta.url));
const THREAD = "survivor";

/** `delays`: how long each writer lives after its first acknowledged append, in milliseconds. */
export async function checkCrashes(delays: readonly number[]): Promise<{ readonly acknowledged: number }> {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-crash-"));
  const path = join(folder, "log.db");
  try {
    const store = openSqlite({ path });
    await createThread(threadDeps(store), { id: THREAD });
    await store.close();
    let acknowledged = 0;
    for (const delay of delays) {
      acknowledged = Math.max(acknowledged, await writeAndDie(path, delay));
      await checkSurvivor(path, acknowledged);
    }
    return { acknowledged };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The number of messages the writer was told are kept. */
async function writeAndDie(path: string, delay: number): Promise<number> {
  const child = spawn(process.execPath, ["--conditions=palimpsest-source", WRITER, path, THREAD], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (text: string) => {
    if (output === "") setTimeout(() => child.kill("SIGKILL"), delay);
    output += text;
  });
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  assert.deepEqual([code, signal], [null, "SIGKILL"], "the writer must die by our hand");
  // A line without its end was being written when it died: it is no acknowledgement.
  return Number(output.slice(0, output.lastIndexOf("\n")).split("\n").at(-1));
}

async function checkSurvivor(path: string, acknowledged: number): Promise<void> {
  const store = openSqlite({ path });
  const own = threadDeps(store);
  assert.equal((await verify(own, THREAD)).kind, "whole");
  assert.equal((await rebuildHead(own, THREAD)).kind, "equal");
  let count = 0;
  for await (const { body } of replay(own, THREAD)) {
    assert.equal((JSON.parse(body) as { number: number }).number, count);
    count += 1;
  }
  assert.ok(count >= acknowledged, `${acknowledged} messages were acknowledged, ${count} are there`);
  assert.equal(count % 2, 0, "a pair is appended whole or not at all");
  await store.close();
}

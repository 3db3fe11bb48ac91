// Leases of processes on one file: free as soon as their process is dead, and not before.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createThread, threadDeps } from "../thread/writer.ts";
import { openSqlite } from "./sqlite.ts";

const HOLDER = fileURLToPath(new URL("../../test/stores/lease-holder.ts", import.meta.url));

class Holder {
  readonly child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(path: string) {
    const args = ["--conditions=palimpsest-source", HOLDER, path];
    this.child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"] });
    this.#lines = createInterface(this.child.stdout!)[Symbol.asyncIterator]();
  }

  async said(): Promise<string> {
    return (await this.#lines.next()).value;
  }

  take(threadId: string): Promise<string> {
    this.child.stdin!.write(`${threadId}\n`);
    return this.said();
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = once(this.child, "exit");
    this.child.kill("SIGKILL");
    await gone;
  }
}

async function place(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-owners-"));
  const path = join(folder, "log.db");
  const store = openSqlite({ path });
  const holders: Holder[] = [];
  t.after(async () => {
    await Promise.all(holders.map((one) => one.kill()));
    await store.close();
    rmSync(folder, { recursive: true });
  });
  for (const id of ["a", "b"]) await createThread(threadDeps(store), { id });
  return {
    folder,
    path,
    store,
    async holder(at = path): Promise<Holder> {
      const one = new Holder(at);
      holders.push(one);
      assert.equal(await one.said(), "ready");
      return one;
    },
    take: async (threadId: string) => (await store.acquireLease(threadId, "here", 60_000)).kind,
  };
}

test("the lease of a process that was killed is free at once, and that of one that lives is not", async (t) => {
  const at = await place(t);
  const [dead, alive] = [await at.holder(), await at.holder()];
  assert.deepEqual([await dead.take("a"), await alive.take("b")], ["acquired", "acquired"]);
  assert.deepEqual([await at.take("a"), await at.take("b")], ["busy", "busy"]);
  await dead.kill();
  assert.deepEqual([await at.take("a"), await at.take("b")], ["acquired", "busy"]);
  assert.equal(await alive.take("a"), "busy");
  assert.equal(await at.store.deleteThread("b"), "busy");
  await alive.kill();
  assert.equal(await at.store.deleteThread("b"), "deleted");
});

test("a process that is stopped is not dead: it keeps its lease for the lease's time", async (t) => {
  const at = await place(t);
  const stopped = await at.holder();
  await stopped.take("a");
  stopped.child.kill("SIGSTOP");
  assert.equal(await at.take("a"), "busy");
  stopped.child.kill("SIGCONT");
  assert.equal(await stopped.take("a"), "acquired");
});

test("a process that knows the file by another name is not taken for dead", async (t) => {
  const at = await place(t);
  mkdirSync(join(at.folder, "other"));
  symlinkSync(at.path, join(at.folder, "other", "link.db"));
  const other = await at.holder(join(at.folder, "other", "link.db"));
  await other.take("a");
  assert.equal(await at.take("a"), "busy");
});

test("the locks of dead processes are cleared away, those of living ones stay", async (t) => {
  const at = await place(t);
  const locks = () => readdirSync(`${at.path}-owners`).length;
  const [dead, alive] = [await at.holder(), await at.holder()];
  await dead.take("a");
  await alive.take("b");
  assert.equal(locks(), 2);
  await dead.kill();
  assert.equal(await at.take("a"), "acquired");
  assert.equal(locks(), 2);
  assert.equal(await at.take("b"), "busy");
});

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { subagentKit, taskCall } from "../../../test/subagents/subagent-kit.ts";
import { openSqlite } from "../../stores/sqlite.ts";
import type { Store } from "../../stores/store.ts";
import { withWriter } from "../../thread/acts.ts";
import { commit, threadDeps } from "../../thread/writer.ts";
import { type Delegation, delegationsOf } from "./delegations.ts";
import { settleInterrupted } from "./middleware.ts";

const CHILDREN = fileURLToPath(new URL("../../../test/subagents/crash-children.ts", import.meta.url));

test("[F71] kill -9 while three children run: each is interrupted at the next start, and one is continued to its end", async () => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-children-crash-"));
  const path = join(folder, "log.db");
  const kill = await startChildren(path);
  const store = openSqlite({ path });
  try {
    const whileAlive = await settleInterrupted(threadDeps(store));
    assert.deepEqual(whileAlive, [], "whoever holds the parent may still be running them");
    await kill();
    const left = delegationsOf((await store.head("t"))!.state);
    assert.deepEqual(statuses(left), ["running", "running", "running"]);
    // Their process is proven dead, so nobody has to wait for its leases to run out.
    const marked = await settleInterrupted(threadDeps(store));
    assert.deepEqual(new Set(marked), new Set(left.map(({ threadId }) => threadId)));
    const { threadId } = left[0]!;
    const kit = subagentKit(
      {
        parent: [{ calls: [taskCall("", { resume: threadId, description: "" })] }, "one is done"],
        child: () => "finished a",
      },
      { store },
    );
    assert.deepEqual(statuses(await kit.delegations()), ["interrupted", "interrupted", "interrupted"]);
    assert.equal((await kit.agent.generate({ threadId: "t", prompt: "go on" })).text, "one is done");
    assert.deepEqual(statuses(await kit.delegations()), ["completed", "interrupted", "interrupted"]);
    const result = (await kit.results()).at(-1)!;
    assert.deepEqual([result.status, result.output, result.threadId], ["completed", "finished a", threadId]);
    const said = (await kit.said(threadId)).map(({ role }) => role);
    assert.deepEqual(said, ["user", "assistant", "user", "assistant"]);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
});

test("a run on the parent's thread marks what a crash left running, without anybody asking", async () => {
  const kit = subagentKit({ parent: [{ calls: [taskCall("a")] }, "ok", "again"], child: () => "done" });
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  const [one] = await kit.delegations();
  const leave = { ...one!, status: "running" };
  const crashed = subagentKit({ parent: ["noticed"], child: () => "?" }, { store: kit.store });
  await writeState(kit.store, { delegations: [leave] });
  await crashed.agent.generate({ threadId: "t", prompt: "and now?" });
  assert.deepEqual(statuses(await crashed.delegations()), ["interrupted"]);
});

const statuses = (list: readonly Delegation[]): string[] => list.map(({ status }) => status);

async function writeState(store: Store, patch: Readonly<Record<string, unknown>>): Promise<void> {
  await withWriter(threadDeps(store), "t", (writer) => commit(writer, [{ kind: "state", patch }]));
}

/** Returns once all of them run; the function kills their process. */
async function startChildren(path: string): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, ["--conditions=palimpsest-source", CHILDREN, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return async () => {
    const closed = once(child, "close");
    child.kill("SIGKILL");
    assert.deepEqual(await closed, [null, "SIGKILL"]);
  };
}

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { type AiSdkMessage, aiSdkShape, assertValid, rulesOf } from "@palimpsest/core/internal/message";
import { deepAgentKit, textOf } from "../../test/agent/agent-kit.ts";
import { openSqlite } from "../stores/sqlite.ts";
import type { Store } from "../stores/store.ts";
import { verify } from "../thread/audit.ts";
import { threadDeps } from "../thread/writer.ts";

const RUN = fileURLToPath(new URL("../../test/agent/crash-run.ts", import.meta.url));

test("[F49] kill -9 in the middle of a tool call: the next turn in a new process is valid and nothing is lost", async () => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-agent-crash-"));
  const path = join(folder, "log.db");
  await killInTool(path);
  const store = openSqlite({ path });
  try {
    assert.equal((await verify(threadDeps(store), "t")).kind, "whole");
    await letLeaseExpire(store);
    const kit = deepAgentKit(["Going on."], { store });
    assert.equal((await kit.agent.generate({ threadId: "t", prompt: "What happened?" })).text, "Going on.");
    assert.equal(kit.of("calls-repair")[0]?.repairs.length, 2);
    const said = await kit.said();
    assert.deepEqual(
      said.map(({ role }) => role),
      ["user", "assistant", "tool", "assistant", "user", "assistant"],
    );
    assert.match(textOf(said[3]!), /Now the hard part/);
    const sent = kit.model.calls[0]!.prompt as unknown as readonly AiSdkMessage[];
    assertValid(sent, aiSdkShape, rulesOf("ai-sdk"));
    assert.equal(textOf(sent.at(-1)!), "What happened?");
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
});

async function killInTool(path: string): Promise<void> {
  const child = spawn(process.execPath, ["--conditions=palimpsest-source", RUN, path, "t"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  assert.deepEqual(await once(child, "close"), [null, "SIGKILL"]);
}

/** The dead process still holds the thread for the rest of its half minute; a test doesn't wait for it. */
async function letLeaseExpire(store: Store): Promise<void> {
  const held = await store.acquireLease("t", "next", 1);
  if (held.kind === "busy") await store.releaseLease({ threadId: "t", owner: held.owner, epoch: 1 });
}

// The commands on sub-agent threads, through the real binary.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { commit, createThread, withWriter } from "palimpsest/internal/threads";
import { threadDeps } from "palimpsest/session";
import { openStore } from "palimpsest/stores";
import { desk } from "../test/binary.ts";

test("threads --tree shows children under their parent, and threads prune takes the old ones that can't be continued", async (t) => {
  const at = desk(t);
  mkdirSync(at.home, { recursive: true });
  const store = await openStore(join(at.home, "palimpsest.db"));
  const long = threadDeps(store, { clock: () => new Date("2026-01-01T00:00:00Z") });
  await createThread(long, { id: "main" });
  for (const id of ["subagent-a", "subagent-b"])
    await createThread(long, { id, kind: "subagent", parent: "main", agentName: "bash" });
  const delegations = [{ threadId: "subagent-a", status: "interrupted", description: "x" }];
  await withWriter(long, "main", (writer) => commit(writer, [{ kind: "state", patch: { delegations } }]));
  await store.close();

  const tree = (await at.run("threads", "--tree")).stdout;
  assert.match(tree, /^main .*\n {2}subagent-[ab] .*\(bash\)\n {2}subagent-[ab] /m);
  const { document } = await at.json("threads", "prune");
  assert.deepEqual(document, { deleted: ["subagent-b"], kept: [{ thread: "subagent-a", reason: "unfinished" }] });
  assert.match((await at.run("threads", "prune", "--all")).stdout, /Deleted subagent-a\./);
  assert.equal((await at.run("threads", "prune", "--days", "x")).code, 2);
});

// What a title took from a message goes with the message: from the log, its forks and the database's files.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { freshThread, say } from "../stores/conformance/kit.ts";
import { openSqlite } from "../stores/index.ts";
import { commit, fork, rebuildHead, redact, verify } from "./index.ts";
import { titleOf } from "./title.ts";

const SECRET = "My password is hunter2-and-more, please keep it. Thanks.";

for (const length of [60, 24]) {
  test(`redacting the first message leaves nothing of a title of at most ${length} characters`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "palimpsest-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const store = openSqlite({ path: join(folder, "log.db") });
    const writer = await freshThread(store);
    const { thread } = writer.lease;
    await say(writer, SECRET, "I will");
    await commit(writer, [{ kind: "state", patch: { title: titleOf(SECRET, length), todos: ["water the plants"] } }]);
    await commit(writer, [{ kind: "state", patch: { title: "Renamed later" } }]);
    await fork(writer, thread, { as: "branch", at: 3 });
    await store.releaseLease(writer.lease);

    const outcome = await redact(writer, thread, 1);
    assert.equal(outcome.kind, "redacted");
    assert.deepEqual((await store.head(thread))!.state, { title: "Renamed later", todos: ["water the plants"] });
    assert.deepEqual((await store.head("branch"))!.state, { title: "[redacted]", todos: ["water the plants"] });
    for (const id of [thread, "branch"]) {
      const verdict = await verify(writer, id);
      assert.deepEqual([verdict.kind, verdict.kind === "whole" && verdict.redacted], ["whole", [1, 3]]);
      assert.equal((await rebuildHead(writer, id)).kind, "equal");
    }
    await store.close();
    for (const file of readdirSync(folder)) assert.ok(!readFileSync(join(folder, file)).includes("hunter2"), file);
    for (const file of readdirSync(folder)) assert.ok(!readFileSync(join(folder, file)).includes("My password"), file);
  });
}

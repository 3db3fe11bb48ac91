// A thread is its user's: whoever names another's id gets a thread of their own, or none.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { collect } from "@palimpsest/testing/internal/kit";
import { deepAgentKit } from "../../test/agent/agent-kit.ts";
import { subagentKit } from "../../test/subagents/subagent-kit.ts";

test("a run on another user's thread id is a thread of one's own, and sees nothing of the other", async () => {
  const kit = deepAgentKit(() => "noted");
  await kit.agent.generate({ threadId: "t", userId: "alice", prompt: "My safe code is 4711." });
  await kit.agent.generate({ threadId: "other", userId: "alice", prompt: "The code opens the blue safe." });
  await kit.agent.generate({ threadId: "t", userId: "mallory", prompt: "What is the safe code?" });
  assert.ok(!JSON.stringify(kit.model.calls.at(-1)!.prompt).includes("4711"));
  await kit.agent.generate({ threadId: "t", userId: "alice", prompt: "Which one is it?" });
  assert.ok(JSON.stringify(kit.model.calls.at(-1)!.prompt).includes("4711"));
  const view = (userId: string) => kit.agent.thread("t", { userId }).view();
  assert.deepEqual([(await view("alice")).length, (await view("mallory")).length], [4, 2]);
  assert.deepEqual(await kit.agent.thread("t").view(), [], "nor is it the default user's");
});

test("another's thread is answered as one that doesn't exist, whatever is asked of it", async () => {
  const kit = deepAgentKit(() => "noted");
  await kit.agent.generate({ threadId: "t", userId: "alice", prompt: "My safe code is 4711." });
  for (const id of ["t", "no-such-thread"]) {
    const handle = kit.agent.thread(id, { userId: "bob" });
    assert.deepEqual(await handle.context(), { kind: "missing" });
    assert.deepEqual(await collect(handle.replay()), []);
    for (const result of [await handle.undo(), await handle.redo(), await handle.pin(1)])
      assert.deepEqual(result, { kind: "missing" });
    assert.deepEqual(await handle.fork({ as: "mine" }), { kind: "missing", threadId: id });
    assert.deepEqual(await handle.state(), {});
    const outcome = await kit.agent.compact(id, { userId: "bob" });
    assert.equal(outcome.kind === "unchanged" && outcome.reason, "no-history");
    await assert.rejects(kit.agent.generate({ threadId: id, userId: "bob" }), {
      code: "nothing-to-answer",
    });
  }
});

test("an empty user is refused, an agent on a user's store is that user's", async () => {
  const kit = deepAgentKit(() => "noted");
  await assert.rejects(kit.agent.generate({ threadId: "t", userId: "", prompt: "hi" }), { code: "bad-user-id" });
  const odd = { threadId: "t", userId: 7 as never, prompt: "hi" };
  await assert.rejects(kit.agent.generate(odd), { code: "bad-user-id" });
  assert.throws(() => kit.agent.thread("t", { userId: "" }), { code: "bad-user-id", message: /user can't be empty/ });
  await assert.rejects(kit.agent.threads({ userId: "" }), { code: "bad-user-id" });
  await assert.rejects(kit.agent.compact("t", { userId: "" }), { code: "bad-user-id" });
  const ann = deepAgentKit(() => "noted", { store: kit.store.forUser("ann@example.org") });
  await ann.agent.generate({ threadId: "t", prompt: "hi" });
  assert.equal((await kit.agent.thread("t", { userId: "ann@example.org" }).view()).length, 2);
});

test("a sub-agent's thread belongs to its parent's user", async () => {
  const call = { name: "task", input: { description: "look", prompt: "look it up", subagent_type: "general-purpose" } };
  const kit = subagentKit({ parent: [{ calls: [call] }, "done"], child: () => "found" });
  await kit.agent.generate({ threadId: "t", userId: "alice", prompt: "find out" });
  const { threads } = await kit.store.forUser("alice").threads({ kind: "subagent" });
  assert.deepEqual(
    threads.map(({ header }) => [header.user, header.parent]),
    [["alice", "t"]],
  );
  assert.deepEqual((await kit.store.threads()).threads, []);
});

test("files of two users' threads of one id lie apart, and a fork's beside its parent's", async (t) => {
  const base = mkdtempSync(join(tmpdir(), "palimpsest-"));
  t.after(() => rmSync(base, { recursive: true }));
  const write = (text: string) => ({ calls: [{ name: "write_file", input: { path: "note.txt", content: text } }] });
  const kit = deepAgentKit([write("alice's"), "ok", write("the default user's"), "ok"], { files: { base } });
  await kit.agent.generate({ threadId: "T", userId: "Alice", prompt: "note it" });
  await kit.agent.generate({ threadId: "T", prompt: "note it" });
  await kit.agent.thread("T", { userId: "Alice" }).fork({ as: "T2" });
  const note = (...path: string[]) => readFile(join(base, ...path, "workspace", "note.txt"), "utf8");
  assert.equal(await note("users", "%41lice", "threads", "%54"), "alice's");
  assert.equal(await note("users", "%41lice", "threads", "%542"), "alice's");
  assert.equal(await note("threads", "%54"), "the default user's");
});

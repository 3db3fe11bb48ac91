import assert from "node:assert/strict";
import { test } from "node:test";
import type { ScriptedStep } from "@palimpsest/testing";
import { subagentKit, taskCall } from "../../../test/subagents/subagent-kit.ts";
import { stateLines } from "../../compaction/state-chain.ts";
import { openSqlite } from "../../stores/sqlite.ts";
import { withWriter } from "../../thread/acts.ts";
import { commit, createThread, threadDeps } from "../../thread/writer.ts";
import { delegationsOf, pruneSubagents } from "./delegations.ts";

const DAY = 86_400_000;
const START = Date.parse("2026-01-01T00:00:00Z");

test("pruning takes old sub-agent threads while their parent lives, keeps what it can continue, and never a main thread", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  let now = START;
  const kit = threadDeps(store, { clock: () => new Date(now) });
  await createThread(kit, { id: "main" });
  const children = ["subagent-listed", "subagent-open", "subagent-loose", "subagent-held"];
  for (const id of children) await createThread(kit, { id, kind: "subagent", parent: "main" });
  await createThread(kit, { id: "subagent-orphan", kind: "subagent", parent: "gone" });
  const entry = { id: "c", agent: "bash", description: "count lines", answer: null };
  const delegations = [
    { ...entry, threadId: "subagent-listed", status: "completed" },
    { ...entry, threadId: "subagent-open", status: "interrupted" },
  ];
  await withWriter(kit, "main", (writer) => commit(writer, [{ kind: "state", patch: { delegations } }]));
  now += 31 * DAY;
  await createThread(kit, { id: "subagent-young", kind: "subagent", parent: "main" });
  const forgotten: string[] = [];
  const forget = async ({ id }: { readonly id: string }): Promise<void> => void forgotten.push(id);
  assert.equal((await store.acquireLease("subagent-held", "someone", 60_000)).kind, "acquired");

  const pruned = await pruneSubagents(kit, { days: 30, forget });
  assert.deepEqual(new Set(pruned.deleted), new Set(["subagent-listed", "subagent-loose", "subagent-orphan"]));
  assert.deepEqual(new Set(forgotten), new Set(pruned.deleted));
  assert.deepEqual(
    new Map(pruned.kept.map(({ thread, reason }) => [thread, reason])),
    new Map([
      ["subagent-open", "unfinished"],
      ["subagent-held", "busy"],
    ]),
  );
  const state = (await store.head("main"))!.state;
  assert.equal(delegationsOf(state)[0]!.deletedAt, "2026-02-01T00:00:00.000Z");
  assert.ok(stateLines(state).delegations.includes("completed: count lines (its thread was deleted on 2026-02-01)"));

  assert.deepEqual((await pruneSubagents(kit, { days: 30, unfinished: "too" })).deleted, ["subagent-open"]);
  assert.ok(await store.header("main"));
  assert.ok(await store.header("subagent-young"));
});

test("a child whose parent is being written to waits for the next time", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  let now = START;
  const kit = threadDeps(store, { clock: () => new Date(now) });
  await createThread(kit, { id: "main" });
  await createThread(kit, { id: "subagent-a", kind: "subagent", parent: "main" });
  const delegations = [{ threadId: "subagent-a", status: "completed" }];
  await withWriter(kit, "main", (writer) => commit(writer, [{ kind: "state", patch: { delegations } }]));
  now += 31 * DAY;
  assert.equal((await store.acquireLease("main", "someone", 60_000)).kind, "acquired");
  const { deleted, kept } = await pruneSubagents(kit, { days: 30 });
  assert.deepEqual([deleted, kept], [[], [{ thread: "subagent-a", reason: "busy" }]]);
});

test("a program that lives for long prunes again each day, in the very thread that runs, and the parent knows", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  let now = START;
  const parent: ScriptedStep[] = [{ calls: [taskCall("count the lines")] }, "done", "still here"];
  const kit = subagentKit({ parent, child: () => "42 lines" }, { store, deps: { clock: () => new Date(now) } });
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  const [child] = await kit.delegations();
  parent.push({ calls: [taskCall("go on", { resume: child!.threadId })] }, "so be it");
  now += 10 * DAY;
  await kit.agent.generate({ threadId: "t", prompt: "and?" });
  assert.ok(await store.header(child!.threadId));
  now += 31 * DAY;
  await kit.agent.generate({ threadId: "t", prompt: "continue it" });
  assert.equal(await store.header(child!.threadId), undefined);
  assert.equal((await kit.delegations())[0]!.deletedAt?.slice(0, 10), "2026-02-11");
  assert.match((await kit.results()).at(-1)!.error!, /was deleted on 2026-02-11.*delegate the task again/);
});

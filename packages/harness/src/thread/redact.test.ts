// What titles and evidence took from a message goes with it: from the logs, their forks and the database's files.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { EvidenceRecord } from "@palimpsest/core/internal/log";
import { collect, freshThread, say } from "@palimpsest/testing/internal/kit";
import { openSqlite } from "../stores/index.ts";
import { appendMessages, fork } from "./acts.ts";
import { rebuildHead, verify } from "./audit.ts";
import { redact } from "./redact.ts";
import { titleOf } from "./title.ts";
import { commit } from "./writer.ts";

const SECRET = "My password is hunter2-and-more, please keep it. Thanks.";

for (const length of [60, 24]) {
  test(`redacting the first message leaves nothing of a title of at most ${length} characters`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "palimpsest-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const store = openSqlite({ path: join(folder, "log.db") });
    const writer = await freshThread(store);
    const { threadId } = writer.lease;
    await say(writer, SECRET, "I will");
    await commit(writer, [
      { kind: "state", patch: { title: titleOf(SECRET, { maxCharacters: length }), todos: ["water the plants"] } },
    ]);
    await commit(writer, [{ kind: "state", patch: { title: "Renamed later" } }]);
    await fork(writer, threadId, { as: "branch", at: 3 });
    await store.releaseLease(writer.lease);

    const outcome = await redact(writer, threadId, 1);
    assert.equal(outcome.kind, "redacted");
    assert.deepEqual((await store.head(threadId))!.state, { title: "Renamed later", todos: ["water the plants"] });
    assert.deepEqual((await store.head("branch"))!.state, { title: "[redacted]", todos: ["water the plants"] });
    for (const id of [threadId, "branch"]) {
      const verdict = await verify(writer, id);
      assert.deepEqual([verdict.kind, verdict.kind === "whole" && verdict.redacted], ["whole", [1, 3]]);
      assert.equal((await rebuildHead(writer, id)).kind, "equal");
    }
    await store.close();
    for (const file of filesIn(folder)) assert.ok(!readFileSync(join(folder, file)).includes("hunter2"), file);
    for (const file of filesIn(folder)) assert.ok(!readFileSync(join(folder, file)).includes("My password"), file);
  });
}

test("redacting a message erases the evidence that quotes it, cut and escaped as it may be, in every thread of its user", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const store = openSqlite({ path: join(folder, "log.db") });
  const [home, other, third] = [await freshThread(store), await freshThread(store), await freshThread(store)];
  const [from, to, apart] = [home, other, third].map(({ lease }) => lease.threadId) as [string, string, string];
  await say(home, "The password:\nhunter2-and-more\n".repeat(3), "I see", "What was it?");
  await say(other, "Which password?", "And now?");
  await say(third, "Which weather?");
  const evidenceOf = (of: number, text: string, ids: string[]) =>
    ({ kind: "evidence", of, text, ids, hash: "h" }) as const;
  await commit(home, [evidenceOf(3, "password: hunter2-and…", [`${from}#1`])]);
  await commit(other, [
    evidenceOf(1, "password: hunter2-and…", ["fact-1", `${from}#1`]),
    evidenceOf(2, "Soup.", [`${from}#2`]),
  ]);
  await commit(third, [evidenceOf(1, "It rains.", [`${apart}#1`])]);
  await fork(other, to, { as: "branch", at: 4 });
  const before = (await store.head(apart))!.version;
  const crossed: typeof store = {
    ...store,
    redact: async (request) => {
      await fork(other, to, { as: "crossing", at: 4 });
      return store.redact(request);
    },
  };
  for (const { lease } of [home, other, third]) await store.releaseLease(lease);

  const outcome = await redact({ ...home, store: crossed }, from, 1);
  assert.deepEqual(outcome.kind === "redacted" && outcome.threads, [from]);
  assert.deepEqual(outcome.kind === "redacted" && outcome.evidenceIn.toSorted(), [to, "branch"].toSorted());
  for (const [threadId, gone] of [
    [from, [1, 4]],
    [to, [3]],
    ["branch", [3]],
    ["crossing", [3]],
  ] as const) {
    const verdict = await verify(home, threadId);
    assert.deepEqual([verdict.kind, verdict.kind === "whole" && verdict.redacted], ["whole", gone]);
    assert.equal((await rebuildHead(home, threadId)).kind, "equal");
  }
  assert.equal((await store.head(apart))!.version, before, "what doesn't quote it is left alone");
  const kept = await collect(store.records(to, { kinds: ["evidence"] }));
  assert.deepEqual(
    kept.map(({ record }) => (record as EvidenceRecord).text),
    ["[redacted]", "Soup."],
  );
  await store.close();
  for (const file of filesIn(folder)) assert.ok(!readFileSync(join(folder, file)).includes("hunter2"), file);
});

test("a fork made while its title is being erased shows what its log says", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const writer = await freshThread(store);
  const { threadId } = writer.lease;
  await say(writer, SECRET);
  await commit(writer, [{ kind: "state", patch: { title: titleOf(SECRET) } }]);
  await store.releaseLease(writer.lease);
  const crossed: typeof store = {
    ...store,
    redact: async (request) => {
      await fork(writer, threadId, { as: "crossing", at: 2 });
      return store.redact(request);
    },
  };
  assert.equal((await redact({ ...writer, store: crossed }, threadId, 1)).kind, "redacted");
  assert.equal((await store.head("crossing"))!.state["title"], "[redacted]");
  assert.equal((await verify(writer, "crossing")).kind, "whole");
  assert.equal((await rebuildHead(writer, "crossing")).kind, "equal");
});

/** Not the folder of locks, which are empty. */
function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

for (const [name, input] of [
  ["nested without end", `{"a":${"[".repeat(30_000)}${"]".repeat(30_000)},"said":"My \\"password\\" is hunter2."}`],
  ["no JSON", `{"a":["said","My \\"password\\" is hunter2."`],
] as const)
  test(`a call whose input is ${name} is redacted, with what repeats its words`, async (t) => {
    const store = openSqlite({ path: ":memory:" });
    t.after(() => store.close());
    const writer = await freshThread(store);
    const { threadId } = writer.lease;
    const call = { id: "c1", type: "function", function: { name: "f", arguments: input } };
    const messages = [
      { role: "user", content: "Keep it." },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: "kept" },
    ];
    await appendMessages(
      writer,
      messages.map((body) => ({ dialect: "openai" as const, origin: "import" as const, body })),
    );
    await commit(writer, [
      { kind: "state", patch: { todos: ['Forget that my "password" is', 'My "password" is hunter2.'] } },
    ]);
    await store.releaseLease(writer.lease);
    assert.equal((await redact(writer, threadId, 2)).kind, "redacted");
    assert.deepEqual((await store.head(threadId))!.state, { todos: ['Forget that my "password" is', "[redacted]"] });
    assert.doesNotMatch(JSON.stringify(await collect(store.records(threadId, { kinds: ["message"] }))), /hunter2/);
  });

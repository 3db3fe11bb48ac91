import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { originalsIn } from "@palimpsest/core/internal/summary";
import { assertSound, collect, freshThread, say, writerOf } from "@palimpsest/testing/internal/kit";
import { openSqlite } from "../stores/index.ts";
import { appendMessages, fork, pin, undo } from "./acts.ts";
import { verify } from "./audit.ts";
import { redact } from "./redact.ts";
import { compactThread } from "./sized-thread.ts";
import type { ThreadDeps, Writer } from "./writer.ts";

const SECRET = "We decided that the vault code is 4711-quux-9920, never write it down.";

const FILLER = "What follows is about the weather in the harbor, which nobody asked about today. ".repeat(20);

/** An empty thread and what compacts it. */
async function freshHome(t: TestContext) {
  const store = openSqlite({ path: ":memory:" });
  const home = mkdtempSync(join(tmpdir(), "palimpsest-rebuild-"));
  t.after(async () => {
    await store.close();
    rmSync(home, { recursive: true });
  });
  const writer = await freshThread(store);
  const { threadId } = writer.lease;
  await store.releaseLease(writer.lease);
  const compact = async () => {
    const outcome = await compactThread(
      writer,
      threadId,
      { cause: "manual" },
      {
        home,
        policy: { trigger: [], keep: [{ type: "messages", value: 2 }], summaryFormat: "pair" } as never,
        window: { size: 16_000, reserve: 400 },
        writer: null,
        on: () => {},
      },
    );
    assert.equal(outcome.kind, "compacted", JSON.stringify(outcome));
  };
  return { store, writer, threadId, compact };
}

/** Twelve turns with something worth keeping in each, compacted twice; message 5 is the secret. */
async function compacted(t: TestContext) {
  const { compact, ...home } = await freshHome(t);
  const tell = async (from: number, to: number) => {
    const turns = Array.from({ length: to - from }, (_, index) => {
      const turn = from + index;
      return turn === 5 ? SECRET : `We decided that service ${turn} uses port ${8_000 + turn}.\n${FILLER}`;
    });
    await holding(home.writer, home.threadId, (held) => say(held, ...turns));
    await compact();
  };
  await tell(1, 9);
  await tell(9, 13);
  return home;
}

test("redacting a message makes the summaries that stood for it anew from what is left, without a model", async (t) => {
  const { store, writer, threadId } = await compacted(t);
  const before = await shown(store, threadId);
  assert.match(before, /4711-quux/);
  const outcome = await redact(writer, threadId, 5);
  assert.deepEqual(outcome.kind === "redacted" && outcome.summaries, { rebuilt: 2, erased: 0 });
  const verdict = await verify(writer, threadId);
  assert.ok(verdict.kind === "whole" && verdict.rewritten.length === 2 && verdict.redacted.includes(5));
  assert.ok(!verdict.redacted.some((seq) => verdict.rewritten.includes(seq)));
  const after = await shown(store, threadId);
  assert.doesNotMatch(after, /4711-quux|was erased/);
  assert.match(after, /service 1 uses port 8001/);
  assert.ok(after.length <= before.length, `${after.length} > ${before.length}`);
  for (const { chained } of await collect(store.records(threadId)))
    assert.doesNotMatch(chained.body ?? "", /4711-quux/);
  await assertSound(writer, threadId);
  // The compaction before it was made anew, too.
  await holding(writer, threadId, undo);
  assert.match(await shown(store, threadId), /service 1 uses port 8001/);
});

test("a pinned message stays in the summary, unless it is the one that was erased", async (t) => {
  const { store, writer, threadId } = await compacted(t);
  for (const seq of [3, 5]) await holding(writer, threadId, (held) => pin(held, seq));
  await redact(writer, threadId, 5);
  const after = await shown(store, threadId);
  assert.match(after, /We decided that service 3 uses port 8003/);
  assert.doesNotMatch(after, /4711/);
});

test("a redaction names the later messages that still quote the words, and those alone", async (t) => {
  const { store, writer, threadId } = await compacted(t);
  const later = await writerOf(writer, threadId);
  const version = (await store.head(threadId))!.version;
  await say(
    later,
    "Noted: the vault code is 4711-quux-9920, is it?",
    "We decided that service 30 uses port 8030.",
    "You said that the VAULT\ncode is a secret.",
    "Is 4711-quux-9920 safe?",
  );
  await store.releaseLease(later.lease);
  await fork(writer, threadId, { as: "branch", at: version + 4 });
  const own = await writerOf(writer, "branch");
  await say(own, "Here it is once more: 4711-quux-9920.");
  await store.releaseLease(own.lease);
  const outcome = await redact(writer, threadId, 5);
  const at = (place: number) => `${threadId}#${version + place}`;
  const inBranch = `branch#${(await store.head("branch"))!.version - 1}`;
  assert.deepEqual("quotedIn" in outcome && outcome.quotedIn, [at(1), at(3), at(4), inBranch]);
  const left = await redact(writer, threadId, version + 4);
  assert.deepEqual("quotedIn" in left && left.quotedIn, [], "an earlier message, which stands, holds the name");
});

test("a summary is made anew when other calls name what the redacted call named", async (t) => {
  const { store, writer, threadId, compact } = await freshHome(t);
  const path = "/home/ann/harbor/tide-tables-2031.ts";
  const call = (id: string, name: string, input: object) => [
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(input) } }],
    },
    { role: "tool", tool_call_id: id, content: FILLER },
  ];
  const held = await writerOf(writer, threadId);
  const messages = [
    { role: "user", content: "We decided that service 1 uses port 8001." },
    ...call("c1", "read", { path }),
    ...call("c2", "write", { path: "/home/ann/notes.md", content: `Look at ${path} first. ${FILLER}` }),
    ...call("c3", "edit", { path, old: "low water at noon", new: "high water at noon" }),
    ...call("c4", "bash", { command: `wc -l ${path}` }),
    { role: "assistant", content: "Both are read." },
    ...Array.from({ length: 4 }, (_, turn) => ({ role: "user", content: `Turn ${turn}. ${FILLER}` })),
  ];
  await appendMessages(
    held,
    messages.map((body) => ({ dialect: "openai" as const, origin: "import" as const, body })),
  );
  await store.releaseLease(held.lease);
  await compact();
  assert.ok((await shown(store, threadId)).includes(path));
  const outcome = await redact(writer, threadId, 2);
  assert.deepEqual(outcome.kind === "redacted" && outcome.summaries, { rebuilt: 1, erased: 0 });
  const after = await shown(store, threadId);
  assert.match(after, /service 1 uses port 8001/);
  assert.ok(!after.includes(path), after);
  await assertSound(writer, threadId);
});

test("redacting again changes nothing, and a fork that shares the summary has the same one", async (t) => {
  const { store, writer, threadId } = await compacted(t);
  await fork(writer, threadId, { as: "branch", at: (await store.head(threadId))!.version });
  await holding(writer, "branch", (held) => pin(held, 2));
  await redact(writer, threadId, 5);
  const [own, shared] = [await shown(store, threadId), await shown(store, "branch")];
  assert.equal(own, shared);
  for (const one of [threadId, "branch"]) await assertSound(writer, one);
  const again = await redact(writer, threadId, 5);
  assert.deepEqual([again.kind, "bodies" in again && again.bodies], ["already-redacted", 0]);
  assert.equal(await shown(store, threadId), own);
});

test("where the originals can be read is taken from the old summary", () => {
  const promise = "The originals are kept word for word";
  assert.deepEqual(originalsIn(`Record.\n${promise} in /history/ and can be found with recall.\n\nMore.`), {
    folder: "/history/",
    finder: "recall",
    reader: "recall_read",
  });
  assert.deepEqual(originalsIn(`${promise}: find them with my search.`).finder, "my search");
  assert.deepEqual(originalsIn("The messages themselves are no longer shown."), {
    folder: null,
    finder: null,
    reader: null,
  });
});

async function holding<T>(deps: ThreadDeps, threadId: string, act: (writer: Writer) => Promise<T>): Promise<void> {
  const held = await writerOf(deps, threadId);
  await act(held);
  await deps.store.releaseLease(held.lease);
}

async function shown(store: ReturnType<typeof openSqlite>, threadId: string): Promise<string> {
  const { compaction } = (await store.head(threadId))!;
  for await (const { record } of store.records(threadId, { range: [compaction!, compaction!] }))
    if (record.kind === "compaction") return record.summary.text;
  throw new Error("nothing is compacted");
}

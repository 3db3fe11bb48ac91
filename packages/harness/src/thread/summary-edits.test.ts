import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { shapeOf } from "@palimpsest/core/internal/message";
import { freshThread } from "@palimpsest/testing/internal/kit";
import { openSqlite, type Store } from "../stores/index.ts";
import { appendMessages, redo, undo } from "./acts.ts";
import { rebuildHead, verify } from "./audit.ts";
import { editSummary, summaryItems } from "./chosen.ts";
import { openThread } from "./open-thread.ts";
import { redact } from "./redact.ts";
import { threadWindow } from "./thread-window.ts";
import type { Writer } from "./writer.ts";

let folder: string;
let store: Store;
let writer: Writer;
let id: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "palimpsest-"));
  store = openSqlite({ path: join(folder, "log.db") });
  writer = await freshThread(store);
  id = writer.lease.threadId;
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const LONG = "The build ran for a long time and printed many lines about modules that were compiled. ".repeat(20);

async function say(...texts: readonly string[]): Promise<void> {
  const bodies = texts.map((content, index) => {
    const role = index % 2 === 0 ? ("user" as const) : ("assistant" as const);
    const origin = role === "user" ? ("user" as const) : ("model" as const);
    return { dialect: "openai" as const, origin, body: { role, content } };
  });
  await appendMessages(writer, bodies);
}

async function opened<T>(work: (thread: Extract<Awaited<ReturnType<typeof open>>, { kind: "open" }>["thread"]) => T) {
  const result = await open();
  assert.ok(result.kind === "open");
  const value = await work(result.thread);
  await result.thread.close();
  return value;
}

function open() {
  const lease = { lease: writer.lease, lost: new AbortController().signal };
  return openThread({ store, id, shape: shapeOf("openai"), window: 8000, lease });
}

const compact = () => opened(async (thread) => assert.equal((await thread.compact()).kind, "compacted"));
const prompt = () => opened(async (thread) => JSON.stringify((await thread.prompt()).messages));

async function items(): Promise<string[]> {
  return (await summaryItems(writer, id))?.items.map(({ id: item, text }) => `${item} ${text}`) ?? [];
}

async function compacted(): Promise<void> {
  await say(
    "We decided to use Postgres for the store.",
    LONG,
    "The port of the server is 8443.",
    LONG,
    `Look at the log of Tuesday. ${LONG}`,
    LONG,
    "And now?",
  );
  await compact();
}

test("before anything is hidden there is no summary to edit, and nothing changes", async () => {
  await say("Hello.", "Hi.", "What now?");
  const result = await editSummary(writer, { act: "add", section: "facts", text: "It rains." }, "act");
  assert.deepEqual(result, { kind: "refused", problem: "nothing is hidden, so there is no summary yet" });
  assert.equal((await store.head(id))?.version, 3);
});

test("an item is edited, added and deleted by one record each; a dry run says the price and writes nothing", async () => {
  await compacted();
  const before = await prompt();
  const [first = ""] = await items();
  const item = first.split(" ")[0]!;
  const version = (await store.head(id))!.version;
  const dry = await editSummary(writer, { act: "edit", item, text: "The store is SQLite." }, "dry-run");
  assert.ok(dry.kind === "edited" && dry.seq === null && dry.rereads > 0);
  assert.equal((await store.head(id))!.version, version);
  const edited = await editSummary(writer, { act: "edit", item, text: "The store is SQLite." }, "act");
  assert.ok(edited.kind === "edited" && edited.seq === version + 1);
  assert.match(await prompt(), /- The store is SQLite\./);
  const added = await editSummary(writer, { act: "add", section: "facts", text: "The bridge has two lanes." }, "act");
  assert.ok(added.kind === "edited");
  assert.match(await prompt(), /## Facts(?:\\n- [^#]*)*\\n- The bridge has two lanes\./);
  const { compaction } = (await threadWindow(store, id, { window: 8000 }))!;
  assert.match(compaction?.text ?? "", /- The bridge has two lanes\./, "the page shows what is sent");
  assert.equal((await editSummary(writer, { act: "delete", item }, "act")).kind, "edited");
  const shown = await prompt();
  assert.doesNotMatch(shown, /The store is SQLite/);
  assert.match(shown, /two lanes/);
  assert.equal((await verify(writer, id)).kind, "whole");
  assert.equal((await rebuildHead(writer, id)).kind, "equal");
  for (const seq of [version + 3, version + 2, version + 1]) await undo(writer, seq);
  assert.equal(await prompt(), before);
});

test("each edit is undone alone, in any order, and comes back", async () => {
  await compacted();
  const item = (await items())[0]!.split(" ")[0]!;
  const version = (await store.head(id))!.version;
  await editSummary(writer, { act: "edit", item, text: "First wording." }, "act");
  await editSummary(writer, { act: "edit", item, text: "Second wording." }, "act");
  await undo(writer, version + 1);
  assert.match(await prompt(), /Second wording/);
  await undo(writer, version + 2);
  assert.doesNotMatch(await prompt(), /wording/);
  await redo(writer);
  assert.match(await prompt(), /Second wording/);
});

test("undoing the compaction takes its edits back with it and says so; redo brings both", async () => {
  await compacted();
  const head = (await store.head(id))!;
  const added = await editSummary(writer, { act: "add", section: "next", text: "Measure the bridge." }, "act");
  assert.ok(added.kind === "edited");
  const undone = await undo(writer, head.compaction!);
  assert.deepEqual("dependents" in undone && undone.dependents, [added.seq]);
  assert.doesNotMatch(await prompt(), /Measure the bridge/);
  await redo(writer);
  assert.match(await prompt(), /Measure the bridge/);
  assert.equal((await rebuildHead(writer, id)).kind, "equal");
});

test("the next compaction goes on from what was edited", async () => {
  await compacted();
  await editSummary(writer, { act: "add", section: "facts", text: "The bridge has two lanes." }, "act");
  const gone = (await items())[0]!.split(" ")[0]!;
  await editSummary(writer, { act: "delete", item: gone }, "act");
  const kept = await items();
  await say(LONG, LONG, LONG, LONG, "Go on.");
  await compact();
  const now = await items();
  assert.ok(now.some((one) => one.endsWith("The bridge has two lanes.")));
  assert.ok(!now.some((one) => one.startsWith(`${gone} `)), `${gone} in ${now.join("\n")} after ${kept.join("\n")}`);
});

test("an unknown item is refused with those there are", async () => {
  await compacted();
  const refused = await editSummary(writer, { act: "delete", item: "g999" }, "act");
  assert.match(refused.kind === "refused" ? refused.problem : "", /no item "g999": for example [a-z]\d+/);
  const item = (await items())[0]!;
  const same = { act: "edit", item: item.split(" ")[0]!, text: item.slice(item.indexOf(" ") + 1) } as const;
  assert.match(JSON.stringify(await editSummary(writer, same, "act")), /says that already/);
});

test("an edit that repeats redacted words is erased with them", async () => {
  await compacted();
  await editSummary(writer, { act: "add", section: "facts", text: "The port of the server is 8443." }, "act");
  await store.releaseLease(writer.lease);
  assert.equal((await redact(writer, id, 3)).kind, "redacted");
  for await (const { chained } of store.records(id))
    if (chained.kind !== "event")
      assert.doesNotMatch(`${chained.header}${chained.body}`, /8443/, `record ${chained.seq}`);
  assert.equal((await verify(writer, id)).kind, "whole");
});

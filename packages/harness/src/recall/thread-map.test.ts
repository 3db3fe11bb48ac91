import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { say, writeThread } from "@palimpsest/testing/internal/thread-writer";
import { openSqlite } from "../stores/sqlite.ts";
import type { Store } from "../stores/store.ts";
import { fork } from "../thread/acts.ts";
import { redact } from "../thread/redact.ts";
import { findText, mapOfThread } from "./answers.ts";

const HARBOR = "The harbor crane needs new ropes, oil, bolts, paint, a winch, a hook, a motor and two drivers";
const TRIP = "Let's plan the trip to Oslo by train, with hotels, museums, ferries, hikes, lunches and seats";

test("the map of a thread grows with it, and what was erased leaves it", async (t) => {
  const writer = await open(t);
  await say(writer, HARBOR, "Noted.");
  assert.match(await labels(writer.store), /^The harbor crane[^\n]*…$/);
  await say(writer, TRIP, "Fine.");
  assert.match(await labels(writer.store), /^The harbor crane[^\n]*\nLet's plan the trip to Oslo/);
  await writer.store.releaseLease(writer.lease);
  assert.equal((await redact(writer, "t", 1)).kind, "redacted");
  assert.doesNotMatch(await labels(writer.store), /crane/);
  assert.match(await labels(writer.store), /trip to Oslo/);
});

test("a fork's map holds what it shares, and a thread that isn't there has none", async (t) => {
  const writer = await open(t);
  await say(writer, HARBOR, "Noted.", TRIP);
  await fork(writer, "t", { as: "f", at: 2 });
  assert.match(await labels(writer.store, "f"), /^The harbor crane[^\n]*$/);
  assert.equal(await mapOfThread(writer, "nowhere", { tokens: 500 }), null);
});

test("a thread that was deleted and made anew under the same name, in the same millisecond, has a map of its own", async (t) => {
  t.mock.timers.enable({ apis: ["Date"] });
  const writer = await open(t);
  await say(writer, HARBOR);
  assert.match(await labels(writer.store), /crane/);
  await writer.store.deleteThread("t", writer.lease);
  const again = await writeThread(writer.store, "t");
  await say(again, TRIP);
  assert.doesNotMatch(await labels(writer.store), /crane/);
});

test("recall answers a question for the course of things with the map, and one for a fact without it", async (t) => {
  const writer = await open(t);
  await say(writer, HARBOR, "Noted.", TRIP);
  const course = await findText(writer, "t", "In which order did we talk about the crane and the trip?", {
    tokens: 400,
  });
  assert.match(course, /^Map of the conversation[^\n]*\n1-2 [^\n]*crane[^\n]*\n3 [^\n]*Oslo/);
  const fact = await findText(writer, "t", "Which winch does the crane need?", { tokens: 400 });
  assert.doesNotMatch(fact, /Map of the conversation/);
});

test("a question chooses the stretches that hold its words, not those that only stand beside them", async (t) => {
  const writer = await open(t);
  const filler = "and so forth with many more words of that kind here ".repeat(8);
  await say(writer, "How do I rig it?", `Ropes, pulley, anchor, mast and boom belong together. ${filler}`);
  await say(writer, TRIP, "Fine.");
  await say(writer, "My budget for groceries went up since the boom of last year, in shops and on markets", "Noted.");
  const question = "In which order came ropes, pulley, anchor, mast and boom?";
  const { shown } = (await mapOfThread(writer, "t", { tokens: 50, question }))!;
  assert.deepEqual(
    shown.map(({ from }) => from),
    [1, 5],
  );
});

async function open(t: TestContext) {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  return writeThread(store, "t");
}

async function labels(store: Store, threadId = "t"): Promise<string> {
  const map = await mapOfThread({ store }, threadId, { tokens: 500 });
  return map!.shown.map(({ label }) => label).join("\n");
}

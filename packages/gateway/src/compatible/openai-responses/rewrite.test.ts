import assert from "node:assert/strict";
import { test } from "node:test";
import { typedEvent } from "../../http/event-stream.ts";
import type { JsonFields } from "../../http/read-json.ts";
import { eventParser } from "../passage.ts";
import { eventsOf, rewritten } from "./compaction-item.ts";

const ITEM = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "größer 🌊" }],
};
const RESPONSE = { id: "resp_theirs", object: "response", status: "completed", output: [ITEM], usage: null };
const FIRST = { type: "compaction", id: "cmp_1", encrypted_content: "ours" };

async function through(bytes: Buffer, cut: number, first: JsonFields | null) {
  const seen: number[] = [];
  async function* body() {
    for (let at = 0; at < bytes.length; at += cut) yield bytes.subarray(at, at + cut);
  }
  const answer = { status: 200, headers: { "content-type": "text/event-stream", "content-length": "1" }, body: body() };
  const { body: out, headers } = rewritten(answer, {
    fields: { id: "resp_ours" },
    first,
    seen: (_, n) => seen.push(n),
  });
  const pieces: Uint8Array[] = [];
  for await (const piece of out) pieces.push(piece);
  assert.equal(headers["content-length"], undefined);
  const events = eventParser()(Buffer.concat(pieces)).map(({ data }) => JSON.parse(data) as JsonFields);
  return { events, seen, text: Buffer.concat(pieces).toString() };
}

const theirs = eventsOf(RESPONSE, 0);
const stream = Buffer.from(theirs.map(typedEvent).join(""));

test("whatever way its bytes are cut, a stream changes only where it holds the whole response", async () => {
  for (const cut of [1, 7, 64, stream.length]) {
    const { events, seen } = await through(stream, cut, null);
    assert.equal(events.length, theirs.length);
    for (const [index, event] of events.entries()) {
      const { response, ...rest } = event;
      const { response: before, ...same } = theirs[index] as JsonFields;
      assert.deepEqual(rest, same);
      if (before !== undefined) assert.deepEqual(response, { ...(before as JsonFields), id: "resp_ours" });
    }
    assert.equal(seen.at(-1), theirs.length - 1);
  }
});

test("a compaction's item comes first: the others move up, and the numbers have no gap", async () => {
  const { events } = await through(stream, 50, FIRST);
  assert.deepEqual(
    events.map((event) => event["sequence_number"]),
    events.map((_, index) => index),
  );
  assert.deepEqual(events[2]!["item"], { ...FIRST, encrypted_content: "" });
  assert.deepEqual(events[3]!["item"], FIRST);
  const places = events.slice(4, -1).map((event) => event["output_index"]);
  assert.ok(places.every((place) => place === 1));
  assert.deepEqual((events.at(-1)!["response"] as JsonFields)["output"], [FIRST, ITEM]);
});

test("a response made of the log's words is numbered so that a client that has more events than it misses nothing", () => {
  const events = eventsOf(RESPONSE, 57);
  assert.equal(events.at(-1)!.sequence_number, 57);
  const numbers = events.map(({ sequence_number: number }) => number);
  assert.deepEqual(
    numbers,
    numbers.toSorted((a, b) => a - b),
  );
  assert.equal(new Set(numbers).size, numbers.length);
  const behind = events.filter(({ sequence_number: number }) => number > 20).map(({ type }) => type);
  assert.deepEqual(behind, [
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
  ]);
});

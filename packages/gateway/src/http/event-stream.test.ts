import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTime } from "../../test/manual-time.ts";
import { EventStream, eventStreamBody, eventText } from "./event-stream.ts";

/** Pieces that a test hands over one by one. */
function source() {
  const waiting: ((result: IteratorResult<string>) => void)[] = [];
  const state = { asked: 0, returned: false };
  const pieces: AsyncIterator<string> = {
    next() {
      state.asked += 1;
      return new Promise((resolve) => waiting.push(resolve));
    },
    async return() {
      state.returned = true;
      return { done: true, value: undefined };
    },
  };
  return {
    state,
    pieces,
    give: (value: string) => waiting.shift()!({ done: false, value }),
    end: () => waiting.shift()!({ done: true, value: undefined }),
  };
}

function opened() {
  const time = new ManualTime();
  const { pieces, ...from } = source();
  const happened: string[] = [];
  const stream = new EventStream(pieces, { onLeave: () => happened.push("left") });
  const connection = new AbortController();
  const body = eventStreamBody(stream, {
    after: time.after,
    release: () => happened.push("released"),
    signal: connection.signal,
    cut: () => happened.push("cut"),
  });
  const reader = body.getReader();
  const read = async () => new TextDecoder().decode((await reader.read()).value);
  return { ...from, time, happened, reader, read, connection };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

test("an event is its data with an id and a name where it has them", () => {
  assert.equal(eventText("{}", { id: 3 }), "id: 3\ndata: {}\n\n");
  assert.equal(eventText("{}", { name: "error" }), "event: error\ndata: {}\n\n");
});

test("a comment comes every 15 seconds where nothing else does, and no event is lost by it", async () => {
  const { give, end, time, reader, read, happened } = opened();
  let next = read();
  for (let count = 0; count < 3; count += 1) {
    await soon();
    await time.pass(14_999);
    await time.pass(1);
    assert.equal(await next, ":\n\n");
    next = read();
  }
  await soon();
  give("data: a\n\n");
  assert.equal(await next, "data: a\n\n");
  const last = reader.read();
  await soon();
  end();
  assert.equal((await last).done, true);
  assert.deepEqual([happened, time.waiting], [["released"], 0]);
});

test("nothing is made before it is read, and who doesn't read for a minute is cut off", async () => {
  const { give, time, happened, state, reader } = opened();
  assert.equal(state.asked, 0);
  const first = reader.read();
  await soon();
  give("data: a\n\n");
  await first;
  await time.pass(59_999);
  assert.deepEqual(happened, []);
  await time.pass(1);
  assert.deepEqual([happened, state.asked, state.returned], [["cut", "released", "left"], 1, true]);
  assert.equal((await reader.read()).done, true);
});

test("a reader that leaves is told of once, and gives its place back", async () => {
  const { reader, happened, time, give } = opened();
  const first = reader.read();
  await soon();
  give("data: a\n\n");
  await first;
  await reader.cancel();
  assert.deepEqual([happened, time.waiting], [["released", "left"], 0]);
});

test("a reader that is gone before anything was written gives its place back, too", async () => {
  const { happened, connection, reader, state } = opened();
  connection.abort();
  connection.abort();
  assert.deepEqual([happened, state.returned], [["released", "left"], true]);
  assert.equal((await reader.read()).done, true);
});

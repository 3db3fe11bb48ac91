import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type ServerEvent, ServerEventReader } from "./create-client.ts";

const TEXT = ':\n\nid: 1\ndata: {"a":1}\n\nevent: error\ndata: x\ndata: y\n\nid: 2\r\ndata:no space\r\n\r\n';
const EVENTS: readonly ServerEvent[] = [
  { id: "1", name: "message", data: '{"a":1}' },
  { id: null, name: "error", data: "x\ny" },
  { id: "2", name: "message", data: "no space" },
];

test("events are read whole, comments passed over, whatever the pieces they come in", () => {
  assert.deepEqual(new ServerEventReader().read(TEXT), EVENTS);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: TEXT.length })), (cuts) => {
      const reader = new ServerEventReader();
      const places = [0, ...cuts.toSorted((a, b) => a - b), TEXT.length];
      const events = places.slice(1).flatMap((end, index) => reader.read(TEXT.slice(places[index], end)));
      assert.deepEqual(events, EVENTS);
    }),
  );
});

test("an event without its end isn't one yet", () => {
  const reader = new ServerEventReader();
  assert.deepEqual(reader.read("data: a\n"), []);
  assert.deepEqual(reader.read("\n"), [{ id: null, name: "message", data: "a" }]);
});

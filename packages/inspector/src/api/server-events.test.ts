import assert from "node:assert/strict";
import { test } from "node:test";
import { eventIn, eventsOf, type StreamedEvent } from "./server-events.ts";

test("events are read whatever pieces they come in; comments say nothing", async () => {
  const text = ':\n\nid: 1\ndata: {"a":1}\n\nevent: error\ndata: {"b":"ü"}\n\n';
  for (const size of [1, 3, 1000]) {
    const bytes = new TextEncoder().encode(text);
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.slice(index * size, (index + 1) * size),
    );
    const events: StreamedEvent[] = [];
    for await (const event of eventsOf(new Response(streamOf(pieces)))) events.push(event);
    assert.deepEqual(events, [
      { name: "message", data: { a: 1 } },
      { name: "error", data: { b: "ü" } },
    ]);
  }
  assert.equal(eventIn(":"), null);
});

function streamOf(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
}

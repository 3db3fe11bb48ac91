import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { AgentEvent } from "./events.ts";
import { EventBuffer, type Reader } from "./stream.ts";

const delta = (text: string, id = "a"): AgentEvent => ({ type: "text-delta", id, text });
const textOf = (events: readonly AgentEvent[]): string =>
  events.map((event) => (event.type === "text-delta" ? event.text : `<${event.type}>`)).join("");

test("a million pieces with a reader that keeps up are kept in few, and a late reader hears the same words", () => {
  const buffer = new EventBuffer();
  const live = buffer.enter();
  const heard: AgentEvent[] = [];
  for (let piece = 0; piece < 1_000_000; piece++) {
    buffer.push(delta("x"));
    heard.push(...take(buffer, live, 1));
  }
  assert.equal(heard.length, 1_000_000);
  assert.ok(buffer.events.length < 2_100, `${buffer.events.length}`);
  assert.equal(textOf(take(buffer, buffer.enter())).length, 1_000_000);
});

test("short runs are told to every reader piece by piece", () => {
  const buffer = new EventBuffer();
  for (let piece = 0; piece < 1_000; piece++) buffer.push(delta("x"));
  assert.equal(take(buffer, buffer.enter()).length, 1_000);
});

test("whoever reads when, every word is heard once and in order, and only neighbors of one text are joined", () => {
  const step = fc.oneof(
    fc.record({ act: fc.constant("push" as const), id: fc.constantFrom("a", "b"), text: fc.string({ minLength: 1 }) }),
    fc.record({ act: fc.constant("mark" as const) }),
    fc.record({ act: fc.constant("enter" as const) }),
    fc.record({ act: fc.constant("leave" as const) }),
    fc.record({ act: fc.constant("read" as const), reader: fc.nat(4), count: fc.nat(6) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const buffer = new EventBuffer(0);
      const said: AgentEvent[] = [];
      const readers: { reader: Reader; heard: AgentEvent[] }[] = [];
      for (const one of steps) {
        if (one.act === "enter") readers.push({ reader: buffer.enter(), heard: [] });
        else if (one.act === "leave") {
          const gone = readers.shift();
          if (gone !== undefined) buffer.leave(gone.reader);
        } else if (one.act === "read") {
          const mine = readers[one.reader];
          mine?.heard.push(...take(buffer, mine.reader, one.count));
        } else {
          const event: AgentEvent =
            one.act === "mark" ? { type: "step-start", step: 1 } : delta(`${one.id}:${one.text}`, one.id);
          said.push(event);
          buffer.push(event);
        }
      }
      for (const { reader, heard } of [...readers, { reader: buffer.enter(), heard: [] as AgentEvent[] }]) {
        heard.push(...take(buffer, reader));
        assert.equal(textOf(heard), textOf(said));
      }
    }),
  );
});

test("of a tool's progress only the latest is kept when there is much of it", () => {
  const buffer = new EventBuffer(0);
  for (let at = 0; at < 10; at++) buffer.push({ type: "tool-progress", callId: "c", name: "n", output: at });
  assert.deepEqual(
    buffer.events.map((event) => event.type === "tool-progress" && event.output),
    [8, 9],
  );
});

function take(buffer: EventBuffer, reader: Reader, most = Number.POSITIVE_INFINITY): AgentEvent[] {
  const taken: AgentEvent[] = [];
  while (taken.length < most && reader.at < buffer.events.length) taken.push(buffer.events[reader.at++]!);
  return taken;
}

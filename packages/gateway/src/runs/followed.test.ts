import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentEvent, AgentStream, RunResult } from "palimpsest";
import { followed } from "./readers.ts";
import { GatewayRun } from "./run.ts";

const MEGABYTE = "x".repeat(1_000_000);
const clock = () => new Date(0);

/** A run that says so many megabytes, the first half before `more` is called. */
function talkative(megabytes: number): { readonly stream: AgentStream; more(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  async function* events(): AsyncGenerator<AgentEvent> {
    yield { type: "run-start", threadId: "t", runId: "r" };
    for (let count = 0; count < megabytes; count += 1) {
      if (count === Math.floor(megabytes / 2)) await promise;
      yield { type: "text-delta", id: "1", text: MEGABYTE };
    }
    yield { type: "run-end", end: { kind: "answered", finish: "stop" } };
  }
  const result = { threadId: "t", runId: "r", end: { kind: "answered", finish: "stop" } } as RunResult;
  const stream = { threadId: "t", started: new Promise(() => {}), result, [Symbol.asyncIterator]: events };
  return { stream: stream as unknown as AgentStream, more: resolve };
}

function begun(megabytes: number) {
  const facts = { id: "r", user: "ada", thread: "t", model: null, askedAt: clock() };
  const run = new GatewayRun(facts, { clock, meter: { event() {} } });
  const { stream, more } = talkative(megabytes);
  return { run, more, done: run.carryOut(stream) };
}

test("a reader too far behind is told so, one that keeps up gets everything, and the run waits for neither", async () => {
  const { run, more, done } = begun(20);
  const slow = followed(run, 0);
  const [first] = [(await slow.next()).value as string];
  assert.match(first, /^id: 1\ndata: \{"type":"run-start"/);
  let chars = 0;
  const keepsUp = (async () => {
    for await (const piece of followed(run, 0)) chars += piece.length;
  })();
  more();
  await Promise.all([done, keepsUp]);
  assert.ok(chars > 20_000_000);
  assert.ok(run.log.bytes <= 16 * 1024 * 1024);
  const rest = [];
  for await (const piece of slow) rest.push(piece);
  assert.match(rest.at(-1)!, /^event: error\ndata: \{"error":\{"code":"events-gone"/);
  const back = [];
  for await (const piece of followed(run, run.log.last - 2)) back.push(piece);
  assert.match(back.join(""), /^id: 21\n.*id: 22\ndata: \{"type":"run-end"/s);
});

test("a run that the server's end has stopped ends with an error behind its last event", async () => {
  const facts = { id: "r", user: "ada", thread: "t", model: null, askedAt: clock() };
  const run = new GatewayRun(facts, { clock, meter: { event() {} } });
  run.stop("shutdown");
  const pieces = [];
  for await (const piece of followed(run, 0)) pieces.push(piece);
  assert.match(pieces.join(""), /"kind":"aborted".*\n\nevent: error\ndata: \{"error":\{"code":"closing"/);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { type AnswerBounds, boundedBody } from "./passage.ts";

const NEVER: AnswerBounds["after"] = () => () => {};

async function read(texts: readonly string[], bounds: Partial<AnswerBounds>, form: "stream" | "whole" = "stream") {
  const timers = { begun: 0 };
  const after: AnswerBounds["after"] = () => {
    timers.begun += 1;
    return () => {};
  };
  const pieces = (async function* () {
    for (const text of texts) yield Buffer.from(text);
  })();
  let all = "";
  const options = { bytes: 100, idleMs: 1000, after, form, stop: () => {}, ...bounds };
  for await (const piece of boundedBody(pieces, options)) all += Buffer.from(piece).toString();
  return { all, begun: timers.begun };
}

test("an answer that is too long is not read to its end", async () => {
  await assert.rejects(read(["x".repeat(60), "x".repeat(41)], { after: NEVER }), /more than 100 bytes/);
  assert.equal((await read(["x".repeat(60), "x".repeat(40)], {})).all.length, 100);
});

test("comments, empty lines and pings are no sign of life, wherever they are cut", async () => {
  const silent = [
    [": k\n\n", ": k\n\n"],
    [":", " k", "\n", "\n"],
    ["\r\n", ": k\r\n\r\n"],
    ['event: ping\ndata: {"type": "ping"}\n\n'],
    ["data: a\n: half", " a comment", "\n\n"],
  ];
  for (const texts of silent) {
    const { begun, all } = await read(texts, {});
    const spoken = texts.filter((text) => text.startsWith("data")).length;
    assert.deepEqual([begun, all], [1 + spoken, texts.join("")], JSON.stringify(texts));
  }
  assert.equal((await read(["data: a\n\n", ": k\n\n", "da", "ta: b\n\n"], {})).begun, 4);
});

test("a silent stream is stopped, and an answer that comes whole may take its time", async () => {
  const stopped: string[] = [];
  const acts: (() => void)[] = [];
  const after: AnswerBounds["after"] = (_, act) => {
    acts.push(act);
    return () => {};
  };
  const { promise, reject } = Promise.withResolvers<never>();
  const body = (async function* () {
    yield Buffer.from(": k\n\n");
    await promise;
  })();
  const reading = (async () => {
    const stop = (error: Error) => {
      stopped.push(error.message);
      reject(error);
    };
    for await (const _ of boundedBody(body, { bytes: 100, idleMs: 5000, after, form: "stream", stop }));
  })();
  await new Promise(setImmediate);
  acts[0]!();
  await assert.rejects(reading, /nothing for 5 s/);
  assert.equal(stopped.length, 1);
  assert.equal((await read(["x"], {}, "whole")).begun, 0);
});

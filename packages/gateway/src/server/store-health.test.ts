import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreError } from "palimpsest/stores";
import { ManualTime } from "../../test/manual-time.ts";
import type { LogLine } from "./log.ts";
import { storeHealth } from "./request-store.ts";

function place(probe?: () => Promise<void>) {
  const time = new ManualTime();
  const lines: string[] = [];
  const codes: string[] = [];
  const log = (line: LogLine) => {
    if ("store" in line) lines.push(`${line.level} ${line.store} ${line.code} ${line.failures}`);
  };
  const onFailure = (code: string) => void codes.push(code);
  const health = storeHealth({ probe, log, clock: time.clock, after: time.after, onFailure });
  return { time, lines, codes, health };
}

const full = () => new StoreError("full", "no room");

test("the first failure is told at once, the next ones once a minute with their count", async () => {
  const { time, lines, codes, health } = place(() => Promise.reject(full()));
  health.failed(full());
  health.failed(full());
  assert.deepEqual(lines, ["error failing full 1"]);
  await time.pass(60_000);
  assert.deepEqual(lines, ["error failing full 1", "error failing full 2"]);
  await time.pass(60_000);
  assert.deepEqual(lines.slice(2), ["error failing full 2"]);
  assert.deepEqual(codes, ["full", "full"]);
  assert.equal(await health.state(), "failing");
});

test("a write that succeeds ends it, and nothing is told any more", async () => {
  const { time, lines, health } = place(() => Promise.reject(full()));
  health.failed(full());
  health.wrote();
  assert.deepEqual(lines, ["error failing full 1", "info recovered full 1"]);
  assert.equal(await health.state(), "writable");
  assert.equal(time.waiting, 0);
});

test("without requests it finds out by itself that writes succeed again", async () => {
  let probed: Promise<void> = Promise.reject(full());
  probed.catch(() => {});
  const { time, lines, health } = place(() => probed);
  health.failed(full());
  assert.equal(await health.state(), "failing");
  probed = Promise.resolve();
  await time.pass(60_000);
  assert.deepEqual(lines.at(-1), "info recovered full 1");
  assert.equal(await health.state(), "writable");
});

test("a failure that comes and goes is told of once a minute", async () => {
  const { time, lines, health } = place(() => Promise.reject(full()));
  for (let i = 0; i < 3; i += 1) {
    health.failed(full());
    health.wrote();
  }
  assert.deepEqual(lines, ["error failing full 1", "info recovered full 1"]);
  await time.pass(60_000);
  health.failed(full());
  assert.equal(lines.filter((line) => line.startsWith("error")).length, 2);
});

test("of a store that can't be probed, a minute without a failure is the end of it", async () => {
  const { time, lines, health } = place();
  health.failed(full());
  await time.pass(60_000);
  await time.pass(60_000);
  assert.deepEqual(lines, ["error failing full 1", "error failing full 1", "info recovered full 1"]);
});

test("an error that is told of twice counts once", () => {
  const { codes, health } = place();
  const error = full();
  health.failed(error);
  health.failed(error);
  assert.deepEqual(codes, ["full"]);
});

test("what is not the store's fault, and a store that was closed, are no failures", async () => {
  const { lines, health } = place();
  health.failed(new Error("no"));
  health.failed(new StoreError("closed", "closed"));
  assert.deepEqual([lines, await health.state()], [[], "writable"]);
});

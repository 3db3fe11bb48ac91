import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import { createOutput } from "./output.ts";

test("a full disk behind stdout fails the command that prints, and not the process", async () => {
  const { output, stdout, closed } = printingTo("ENOSPC");
  const closing = new Promise((resolve) => stdout.once("close", resolve));
  await assert.rejects(output.line("much"), { code: "ENOSPC" });
  await closing;
  await assert.rejects(output.json({ error: "told nobody" }), /destroyed/);
  assert.equal(closed(), 0);
});

test("a reader that went away ends the program and fails nothing", async () => {
  const { output, stdout, closed } = printingTo("EPIPE");
  const closing = new Promise((resolve) => stdout.once("close", resolve));
  await output.line("much");
  await closing;
  assert.equal(closed(), 1);
});

function printingTo(code: string) {
  let count = 0;
  const stdout = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error(`${code}: write`), { code })),
  });
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = createOutput({ stdout, stderr, env: {}, onClosed: () => void count++ });
  return { output, stdout, closed: () => count };
}

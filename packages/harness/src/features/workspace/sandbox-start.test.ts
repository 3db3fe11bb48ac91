import assert from "node:assert/strict";
import { test } from "node:test";
import { startFailure } from "./sandbox-start.ts";

const failure = (message: string, code?: string) => startFailure(Object.assign(new Error(message), { code }));

test("a shell whose package isn't installed says what to install", () => {
  const error = failure("Cannot find package 'just-bash' imported from /app/sandbox-worker.js", "ERR_MODULE_NOT_FOUND");
  assert.equal(error?.code, "missing-package");
  assert.match(error.message, /npm install just-bash@3/);
});

test("a bundle without the shell's worker says how to bring it along, and names no path of the host", () => {
  const error = failure("Cannot find module '/app/out/sandbox-worker.js'", "ERR_MODULE_NOT_FOUND");
  assert.equal(error?.code, "missing-worker");
  assert.match(error.message, /second entry point/);
  assert.doesNotMatch(error.message, /\/app/);
});

test("a shell that had started failed for another reason", () => {
  assert.equal(failure("out of memory", "ERR_WORKER_OUT_OF_MEMORY"), null);
  assert.equal(failure("a bug"), null);
});

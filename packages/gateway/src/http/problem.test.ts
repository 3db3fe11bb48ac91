import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentError } from "palimpsest";
import { StoreError } from "palimpsest/stores";
import { problemOf } from "./problem.ts";

test("a store that can't be had for now is 503 with the time to wait, in words that name nothing of the server", () => {
  const place = "PostgreSQL at db.internal:5432/p doesn't answer";
  const rows = [
    [new StoreError("unavailable", place), 503, "unavailable"],
    [new AgentError("store", place, { storeCode: "unavailable" }), 503, "unavailable"],
    [new StoreError("unwritable", place), 503, "unwritable"],
    [new StoreError("full", place), 503, "full"],
    [new StoreError("corrupt", place), 500, "corrupt"],
    [new AgentError("store", place, { storeCode: "io" }), 500, "store"],
  ] as const;
  for (const [error, status, code] of rows) {
    const problem = problemOf(error);
    assert.deepEqual([problem.status, problem.code], [status, code]);
    assert.equal(problem.headers?.["retry-after"], status === 503 ? "5" : undefined);
    assert.doesNotMatch(problem.message, /internal/);
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreError } from "../store-error.ts";
import { describeProblem } from "./problem.ts";

test("a socket in a folder that can't be entered is a server that doesn't answer", () => {
  const refused = Object.assign(new Error("connect EACCES /closed/.s.PGSQL.5432"), { code: "EACCES" });
  const told = describeProblem(refused, { place: "/closed/x" } as never);
  assert.ok(told instanceof StoreError);
  assert.equal(told.code, "unavailable");
  assert.match(told.message, /\/closed\/x doesn't answer .*EACCES.*check/s);
});

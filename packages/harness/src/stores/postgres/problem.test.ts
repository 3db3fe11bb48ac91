import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreError } from "../store-error.ts";
import { connectionProblem, describeProblem } from "./problem.ts";

test("a socket in a folder that can't be entered is a server that doesn't answer", () => {
  const refused = Object.assign(new Error("connect EACCES /closed/.s.PGSQL.5432"), { code: "EACCES" });
  const told = describeProblem(refused, { place: "/closed/x" } as never);
  assert.ok(told instanceof StoreError);
  assert.equal(told.code, "unavailable");
  assert.match(told.message, /\/closed\/x doesn't answer .*EACCES.*check/s);
});

test("a statement that a moving shard has broken is tried again", () => {
  const broken = Object.assign(new Error('Query could not find the intermediate result file "55_1"'), {
    code: "CIINF",
  });
  assert.equal(connectionProblem(broken), "node");
});

for (const [what, message, code, expected] of [
  [
    "without TLS",
    'no pg_hba.conf entry for host "127.0.0.1", user "app", database "x", no encryption',
    "28000",
    /TLS.*sslmode=verify-full/,
  ],
  [
    "an unknown certificate",
    "self-signed certificate; if the root CA is installed locally, ...",
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    /self-signed certificate\).*sslrootcert=PATH/,
  ],
  ["TLS that isn't there", "The server does not support SSL connections", "", /has no TLS/],
  [
    "a statement_timeout",
    "canceling statement due to statement timeout",
    "57014",
    /statement_timeout: allow ten seconds/,
  ],
  ["a wrong password", 'password authentication failed for user "app"', "28P01", /check the user and the password/],
] as const)
  test(`a connection refused for ${what} says what to change`, () => {
    const told = describeProblem(Object.assign(new Error(message), { code }), { place: "db/x", user: "app" } as never);
    assert.ok(told instanceof StoreError);
    assert.match(told.message, expected);
  });

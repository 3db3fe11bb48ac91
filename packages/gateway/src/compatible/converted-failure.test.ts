import assert from "node:assert/strict";
import { test } from "node:test";
import { ProblemError } from "../http/problem.ts";
import { BrokenAnswer, convertedFailure } from "./converted-answer.ts";

function callError(fields: object, message = "said") {
  return Object.assign(new Error(message), { name: "AI_APICallError", ...fields });
}

test("whatever another vendor's model fails with has a status that a client can act on, and none of success", () => {
  const rows: readonly (readonly [string, unknown, number, string, RegExp])[] = [
    ["a refusal keeps its status and words", callError({ statusCode: 429 }), 429, "provider", /^said$/],
    ["an answer nobody can read", callError({ statusCode: 200 }), 502, "bad-response", /can't be read/],
    ["nobody there", callError({ cause: { code: "ECONNREFUSED" } }), 502, "unreachable", /reached \(ECONNREFUSED\)/],
    ["nobody there, and no reason", callError({}), 502, "unreachable", /reached \(said\)/],
    ["no end", new BrokenAnswer(null), 502, "bad-response", /without an end/],
    ["cut off", new BrokenAnswer(new TypeError("terminated")), 502, "unreachable", /broke off/],
    ["a refusal in the stream", new BrokenAnswer(callError({ statusCode: 529 })), 529, "provider", /^said$/],
    [
      "what it has no word for",
      Object.assign(new Error("'audio' not supported"), { name: "AI_UnsupportedFunctionalityError" }),
      400,
      "unsupported",
      /'audio'/,
    ],
    ["a refusal of ours", new ProblemError(400, "not-inline", "inline"), 400, "not-inline", /inline/],
    ["a fault of ours tells nothing", new TypeError("/etc/x"), 500, "unexpected", /^something failed here/],
  ];
  for (const [what, error, status, code, message] of rows) {
    const failure = convertedFailure(error);
    assert.deepEqual([failure.status, failure.code], [status, code], what);
    assert.match(failure.message, message, what);
  }
});

test("when to come again is handed on", () => {
  const limited = callError({ statusCode: 429, responseHeaders: { "retry-after": "7", server: "x" } });
  assert.deepEqual(convertedFailure(limited).headers, { "retry-after": "7" });
  assert.deepEqual(convertedFailure(callError({ statusCode: 429 })).headers, {});
});

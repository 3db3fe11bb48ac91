import assert from "node:assert/strict";
import { test } from "node:test";
import { APICallError } from "@ai-sdk/provider";
import { type CallFailure, calledAt, callFailure, worthAnotherTry } from "./call-error.ts";

type Given = Partial<ConstructorParameters<typeof APICallError>[0]>;

const refusal = (given: Given): APICallError =>
  new APICallError({ message: "no", url: "https://example.org/v1/chat", requestBodyValues: {}, ...given });
const unreachable = (code: string): APICallError =>
  refusal({ isRetryable: true, cause: Object.assign(new Error(code), { code }) });

const table: readonly (readonly [string, unknown, CallFailure, "again" | "never"])[] = [
  ["401", refusal({ statusCode: 401 }), "key-refused", "never"],
  ["429", refusal({ statusCode: 429 }), "rate-limited", "again"],
  [
    "a quota that is used up",
    refusal({ statusCode: 429, responseBody: '{"code":"insufficient_quota"}' }),
    "quota-exceeded",
    "never",
  ],
  ["no credit", refusal({ statusCode: 400, message: "Your credit balance is too low" }), "quota-exceeded", "never"],
  ["402", refusal({ statusCode: 402 }), "quota-exceeded", "never"],
  [
    "Google's limit per minute",
    refusal({ statusCode: 429, message: "You exceeded your current quota" }),
    "rate-limited",
    "again",
  ],
  ["503", refusal({ statusCode: 503 }), "overloaded", "again"],
  ["529", refusal({ statusCode: 529 }), "overloaded", "again"],
  ["500", refusal({ statusCode: 500 }), "refused", "again"],
  ["408", refusal({ statusCode: 408 }), "refused", "again"],
  ["404", refusal({ statusCode: 404 }), "not-found", "never"],
  ["400", refusal({ statusCode: 400 }), "bad-request", "never"],
  ["an unknown host", unreachable("ENOTFOUND"), "unknown-host", "never"],
  ["a name server that is busy", unreachable("EAI_AGAIN"), "unreachable", "again"],
  ["a refused connection", unreachable("ECONNREFUSED"), "unreachable", "again"],
  ["anything else", new Error("boom"), "other", "never"],
  ["an error in a stream that says so", { isRetryable: true }, "other", "again"],
];
for (const [name, error, kind, retry] of table) {
  test(`${name} is ${kind}, to be tried ${retry}`, () => {
    assert.deepEqual([callFailure(error), worthAnotherTry(error) ? "again" : "never"], [kind, retry]);
  });
}

test("where a call went is told without credentials and keys", () => {
  const url = "https://user:pass@example.org:8080/v1/models/m:stream?key=abc#x";
  assert.deepEqual(calledAt(refusal({ url, requestBodyValues: { model: "m" } })), {
    url: "https://example.org:8080/v1/models/m:stream",
    model: "m",
  });
  assert.deepEqual(calledAt(refusal({ url: "not an address" })), { url: "not an address", model: null });
});

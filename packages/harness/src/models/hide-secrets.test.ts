import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { hideSecrets, secretsOf } from "./wrap.ts";

const SECRET = "sk-0123456789";

test("a secret is taken out of messages, stacks, bodies and causes, and the error stays the same object", () => {
  const cause = new TypeError(`cause ${SECRET}`);
  const error = Object.assign(new Error(`bad key ${SECRET}`, { cause }), {
    responseBody: `{"key":"${SECRET}"}`,
    data: { list: [{ deep: SECRET }] },
  });
  const clean = hideSecrets(error, [SECRET]);
  assert.equal(clean, error);
  assert.doesNotMatch(`${inspect(clean, { depth: 9 })}${error.stack}`, new RegExp(SECRET));
  assert.match(error.message, /bad key \[hidden\]/);
});

test("what belongs to the caller is not changed, and circles end", () => {
  const message = { role: "user", content: `my key is ${SECRET}`, self: null as unknown };
  message.self = message;
  const error = Object.assign(new Error("no"), { requestBodyValues: { messages: [message] } });
  hideSecrets(error, [SECRET]);
  assert.equal(message.content, `my key is ${SECRET}`);
  assert.notEqual(error.requestBodyValues.messages[0], message);
  assert.equal(error.requestBodyValues.messages[0]!.content, "my key is [hidden]");
});

test("what is thrown needn't be an error", () => {
  assert.equal(hideSecrets(`x ${SECRET}`, [SECRET]), "x [hidden]");
  assert.equal(hideSecrets(undefined, [SECRET]), undefined);
  const error = new Error("plain");
  assert.equal(hideSecrets(error, []), error);
});

test("the key, and a password in the address, are secrets; short words are not", () => {
  assert.deepEqual(secretsOf({ api_key: SECRET, base_url: "http://me:hunter2x@host/v1" }), [SECRET, "hunter2x"]);
  assert.deepEqual(secretsOf({ api_key: "none" }), []);
  assert.deepEqual(secretsOf({ base_url: "no url" }), []);
});

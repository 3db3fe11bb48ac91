import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bodyOf, jsonOf } from "./log.ts";

test("what is JSON already is written as it is", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => assert.equal(bodyOf(value), JSON.stringify(value))));
});

test("any value at all, nested however, becomes JSON or says that it contains itself", () => {
  const odd = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withSparseArray: true,
  });
  fc.assert(
    fc.property(odd, (value) => {
      try {
        JSON.parse(bodyOf(value));
      } catch (error) {
        assert.match(String(error), /contains itself|Invalid time value|toJSON|toISOString/);
      }
    }),
  );
});

test("a map's key that is an object, also one that can't be made a text, is written as JSON", () => {
  const odd = { toString: 1, valueOf: 2 };
  assert.deepEqual(
    jsonOf(
      new Map<unknown, number>([
        [odd, 1],
        [7, 2],
      ]),
    ),
    { '{"toString":1,"valueOf":2}': 1, "7": 2 },
  );
});

test("bytes become base64, URLs text, big integers digits, wherever they stand", () => {
  const bytes = Buffer.from("hello");
  const part = { type: "file", data: new Uint8Array(bytes), url: new URL("http://x.test/a b"), n: 2n ** 70n };
  assert.deepEqual(jsonOf({ content: [part, bytes, new Map([["k", new Set([1n])]])] }), {
    content: [
      { type: "file", data: "aGVsbG8=", url: "http://x.test/a%20b", n: "1180591620717411303424" },
      "aGVsbG8=",
      { k: ["1"] },
    ],
  });
});

test("the same object twice is no cycle", () => {
  const shared = { a: 1 };
  assert.deepEqual(jsonOf([shared, { shared }]), [{ a: 1 }, { shared: { a: 1 } }]);
});

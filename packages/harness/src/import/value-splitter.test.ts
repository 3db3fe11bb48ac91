import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { valueSplitter } from "./value-splitter.ts";

/** Pushes the bytes in pieces of the given sizes, again and again. */
function cut(text: string, sizes: readonly number[] = [1_000_000], rest: "report" | "wait" = "report") {
  const bytes = Buffer.from(text);
  const splitter = valueSplitter();
  const cuts = [];
  for (let start = 0, round = 0; start < bytes.length; round += 1) {
    const size = sizes[round % sizes.length]!;
    cuts.push(...splitter.push(bytes.subarray(start, start + size)));
    start += size;
  }
  return [...cuts, ...splitter.end(rest)];
}

const valuesIn = (cuts: ReturnType<typeof cut>) => cuts.map((one) => ("problem" in one ? one.problem : one.value));
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });

test("an array is cut into its elements, however it is spelled and in whatever pieces it comes", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.constantFrom(0, 1, "\t"), sizes, (values, indent, pieces) => {
      // JSON.stringify turns -0 into 0.
      const expected = JSON.parse(JSON.stringify(values));
      assert.deepEqual(valuesIn(cut(JSON.stringify(values, null, indent), pieces)), expected);
    }),
  );
});

test("lines are cut at their ends, in whatever pieces they come", () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(fc.array(object, { minLength: 1 }), sizes, fc.boolean(), (values, pieces, ended) => {
      const text = values.map((value) => JSON.stringify(value)).join("\n");
      assert.deepEqual(valuesIn(cut(ended ? `${text}\n` : text, pieces)), JSON.parse(JSON.stringify(values)));
    }),
  );
});

test("the text of an element is its very text", () => {
  const [first, second] = cut('[ {"a" : 1.0} ,\n"\\u00e9\\"]" ]');
  assert.deepEqual(
    [first, second].map((one) => one && "text" in one && one.text),
    ['{"a" : 1.0}', '"\\u00e9\\"]"'],
  );
});

test("a list that ends in the middle, goes on after its end or has a comma too many is named", () => {
  for (const [text, said] of [
    ['[{"a":1},{"b":', /in the middle of message 2: is the file truncated/],
    ['[{"a":1}] x', /something follows the end/],
    ['[{"a":1},]', /a comma stands before the end/],
    ['[{"a":1},,{"b":2}]', /two commas/],
  ] as const) {
    const problems = cut(text).filter((one) => "problem" in one);
    assert.equal(problems.length, 1, text);
    assert.match(problems[0]!.problem.message, said);
  }
});

test("while a file may still grow, a half line waits and a whole one without its end doesn't", () => {
  assert.deepEqual(valuesIn(cut('{"a":1}\n{"b":', [3], "wait")), [{ a: 1 }]);
  assert.deepEqual(valuesIn(cut('{"a":1}\n{"b":2}', [3], "wait")), [{ a: 1 }, { b: 2 }]);
  assert.deepEqual(valuesIn(cut('{\n"a":1', [3], "wait")), []);
});

test("a value over the limit is named with the setting and not kept, and what follows it is read", () => {
  const long = JSON.stringify({ text: "x".repeat(40) });
  const cases = [
    [`${long}\n{"a":1}\n`, "line 1", [{ a: 1 }]],
    [`{"a":1}\n${long}\n{"b":2}`, "line 2", [{ a: 1 }, { b: 2 }]],
    [`[{"a":1},${long},{"b":2}]`, "message 2", [{ a: 1 }, { b: 2 }]],
    [`{\n"text":\n"${"x".repeat(40)}"}`, "", []],
  ] as const;
  for (const [text, place, values] of cases)
    for (const size of [3, 1000]) {
      const splitter = valueSplitter({ bytes: 32, setting: "a.key" });
      const cuts = [];
      const bytes = Buffer.from(text);
      for (let start = 0; start < bytes.length; start += size)
        cuts.push(...splitter.push(bytes.subarray(start, start + size)));
      cuts.push(...splitter.end());
      const problems = cuts.flatMap((one) => ("problem" in one ? [one.problem] : []));
      assert.deepEqual(
        [problems.map((one) => one.place), cuts.flatMap((one) => ("problem" in one ? [] : [one.value]))],
        [[place], values],
        text,
      );
      assert.match(problems[0]!.message, /one value of over 0 MB \(a\.key\)/);
    }
});

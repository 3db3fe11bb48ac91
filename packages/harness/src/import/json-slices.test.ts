import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { elementSlices, memberSlices, withoutBreaks } from "./json-slices.ts";

/** JSON text with every kind of legal spacing, escape and number spelling, made from a value. */
function spelled(value: unknown, style: readonly number[]): string {
  let turn = 0;
  const pick = (choices: readonly string[]): string => {
    turn += 1;
    return choices[(style[turn % style.length] ?? 0) % choices.length]!;
  };
  const space = () => pick(["", "", " ", "\t", "\n  ", "\r\n"]);
  const text = (string: string): string =>
    `"${[...string]
      .map((char) =>
        pick(["plain", "escaped"]) === "escaped"
          ? Array.from(
              { length: char.length },
              (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, "0")}`,
            ).join("")
          : JSON.stringify(char).slice(1, -1),
      )
      .join("")}"`;
  const write = (item: unknown): string => {
    if (typeof item === "string") return text(item);
    if (Array.isArray(item)) return `[${space()}${item.map((one) => `${write(one)}${space()}`).join(`,${space()}`)}]`;
    if (item !== null && typeof item === "object")
      return `{${space()}${Object.entries(item)
        .map(([name, one]) => `${text(name)}${space()}:${space()}${write(one)}${space()}`)
        .join(`,${space()}`)}}`;
    return JSON.stringify(item);
  };
  return write(value);
}

const style = fc.array(fc.nat(5), { minLength: 1, maxLength: 40 });
const json = fc.jsonValue({ maxDepth: 5, stringUnit: "binary" });

test("every slice of an object is the text of its value, whatever the spelling", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: "binary" }), json), style, (object, how) => {
      const text = spelled(object, how);
      const slices = memberSlices(text);
      assert.deepEqual([...slices.keys()].sort(), Object.keys(object).sort());
      for (const [name, slice] of slices) {
        assert.ok(text.includes(slice));
        assert.equal(slice, slice.trim());
        assert.deepEqual(JSON.parse(slice), JSON.parse(text)[name]);
      }
    }),
  );
});

test("every slice of an array is the text of its element, in order", () => {
  fc.assert(
    fc.property(fc.array(json), style, (array, how) => {
      const text = spelled(array, how);
      assert.deepEqual(
        elementSlices(text).map((slice) => JSON.parse(slice)),
        JSON.parse(text),
      );
    }),
  );
});

test("one line means the same and holds no line break", () => {
  fc.assert(
    fc.property(json, style, (value, how) => {
      const text = spelled(value, how);
      const line = withoutBreaks(text);
      assert.doesNotMatch(line, /[\n\r]/);
      assert.deepEqual(JSON.parse(line), JSON.parse(text));
      if (!/[\n\r]/.test(text)) assert.equal(line, text);
    }),
  );
});

test("spacing, escapes and number spellings stay as they stand", () => {
  const message = '{ "n":1.50e+2 ,"s":"\\u00e9\\/\\"}{[",  "big":12345678901234567890 }';
  assert.equal(memberSlices(`{"at":"x","message" : ${message} ,"z":[]}`).get("message"), message);
  assert.deepEqual(elementSlices(`[${message},-0.0,null , "]"]`), [message, "-0.0", "null", '"]"']);
});

test("of a repeated name the last value counts, and an escaped name is the same name", () => {
  assert.equal(memberSlices('{"message":1,"message":{"a":2}}').get("message"), '{"a":2}');
  assert.equal(memberSlices('{"m\\u0065ssage":[1]}').get("message"), "[1]");
  assert.equal(memberSlices('{"__proto__":1}').get("__proto__"), "1");
});

test("a nesting of a million levels and a string of a million escapes are cut in one pass", () => {
  const deep = `${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}`;
  const long = `"${'\\"\\\\'.repeat(1_000_000)}"`;
  const slices = memberSlices(`{"deep":${deep},"long":${long}}`);
  assert.equal(slices.get("deep"), deep);
  assert.equal(slices.get("long"), long);
  assert.deepEqual(elementSlices(`[${deep}, ${long}]`), [deep, long]);
});

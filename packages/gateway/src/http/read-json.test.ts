import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertShallow, readShallow } from "./input.ts";
import { parseJson, parseSteps, repeatedName } from "./read-json.ts";

function parsedInSlices(bytes: Buffer, step: number): unknown {
  const steps = parseSteps(bytes, step);
  for (;;) {
    const next = steps.next();
    if (next.done === true) return next.value;
  }
}

/** The value, or that there is none. */
function outcome(parse: () => unknown): unknown {
  try {
    return { value: parse() };
  } catch (error) {
    assert.ok(error instanceof SyntaxError, String(error));
    return "no JSON";
  }
}

test("slices of any size give what JSON.parse gives, for JSON and for what is none", () => {
  const damaged = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom("", ",", "]", "}", "{", "[", '"', ":", " ", "\\", "1", "\u0000"))
    .map(([json, at, sign]) => {
      const place = at % (json.length + 1);
      return json.slice(0, place) + sign + json.slice(place + (sign === "" ? 1 : 0));
    });
  fc.assert(
    fc.property(fc.oneof(fc.json(), damaged), fc.integer({ min: 1, max: 40 }), (text, step) => {
      const bytes = Buffer.from(text);
      assert.deepEqual(
        outcome(() => parsedInSlices(bytes, step)),
        outcome(() => JSON.parse(bytes.toString())),
        text,
      );
    }),
    { numRuns: 2000 },
  );
});

test("of a name that stands twice the last one counts, and __proto__ is a name like others", () => {
  for (const text of ['{"a":[1,1,1,1],"b":2,"a":3}', '{"__proto__":{"x":1},"b":[1,2,3]}', "[[],{},[{}],1]", "  7 "])
    for (const step of [1, 4, 100])
      assert.deepEqual(parsedInSlices(Buffer.from(text), step), JSON.parse(text), `${text} by ${step}`);
});

test("as deep as allowed passes, one level more is refused, brackets in words and in other files don't count", async () => {
  const nested = (levels: number) => Buffer.from(`${"[".repeat(levels)}1${"]".repeat(levels)}`);
  await assertShallow(nested(200), 200);
  await assert.rejects(assertShallow(nested(201), 200), { code: "too-deep" });
  await assertShallow(Buffer.from(JSON.stringify([`\\"${"[".repeat(500)}`])), 200);
  await assertShallow(Buffer.from(`RIFF${"[".repeat(500)}`), 200);
});

test("a message of very many values and a body of very many fields are refused, very many messages are not", async () => {
  const shaped = (value: unknown) => assertShallow(Buffer.from(JSON.stringify(value)), 200);
  const values = Array.from({ length: 30_000 }, (_, index) => ({ n: index, a: 1 }));
  const fields = Object.fromEntries(values.map((_, index) => [`k${index}`, index]));
  const tooMany = { code: "too-many-values" };
  await assert.rejects(shaped({ messages: [{ role: "user", content: values }] }), tooMany);
  await assert.rejects(shaped({ messages: [{ role: "user", a: fields, b: fields }] }), tooMany);
  await assert.rejects(shaped(fields), tooMany);
  await shaped({ messages: [...values, ...values, ...values], input: values.map(({ n }) => n), metadata: fields });
  await shaped({ messages: [{ role: "user", content: ",".repeat(60_000) }] });
});

test("a body of nothing but open brackets is refused by its first ones", async () => {
  await assert.rejects(assertShallow(Buffer.alloc(8 << 20, "["), 200), { code: "too-deep" });
});

test("others get their turns while a long body is parsed", async () => {
  const body = Buffer.from(JSON.stringify({ messages: Array.from({ length: 400_000 }, (_, id) => ({ id, a: [id] })) }));
  assert.ok(body.length > 8 << 20);
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  count();
  const value = (await parseJson(body)) as { readonly messages: readonly unknown[] };
  isDone = true;
  assert.equal(value.messages.length, 400_000);
  assert.ok(turns > 5, `${turns}`);
});

test("a name that stands twice in one object is found, at any depth and however it is spelled", async () => {
  const found = (text: string) => repeatedName(Buffer.from(text));
  assert.equal(await found('{"a":1,"b":[{"x":1},{"x":2}],"c":{"a":1},"d":"a","e":["a","a"]}'), null);
  assert.equal(await found('{"a":{"z":","},"b" : "x", "\\u0061":2}'), "a");
  assert.equal(await found('{"__proto__":1,"__proto__":2}'), "__proto__");
  assert.equal(await found("{}"), null);
  assert.equal(await found('{"a":[{"x":{"y":1}},{"file_id":"f","z":["x"],"file\\u005fid":null}]}'), "file_id");
  assert.equal(await found('{"a":{"x":[{"a":1}],"y":{"a":{},"x":1}},"x":["a",{"a":1},"a"],"y":"x"}'), null);
});

test("one text of many megabytes is read in many steps, whatever is escaped in it", () => {
  for (const unit of ["word ", '\\"', "\u4e2d", "\u{1f600}", "\n", "\u0001"]) {
    const value = { messages: [{ role: "user", content: unit.repeat(400_000) }] };
    const steps = parseSteps(Buffer.from(JSON.stringify(value)));
    let count = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) count += 1;
    assert.deepEqual(step.value, value);
    assert.ok(count > 4, `${JSON.stringify(unit)}: ${count}`);
  }
});

test("a large body is put together in turns, so that others are served meanwhile", async (t) => {
  // Each look at the clock comes after as long as work may keep the others waiting.
  let ms = performance.now();
  t.mock.method(performance, "now", () => (ms += 10));
  let turns = 0;
  const count = (): void => {
    turns += 1;
    turn = setImmediate(count);
  };
  let turn = setImmediate(count);
  t.after(() => clearImmediate(turn));
  const pieces = Array.from({ length: 20 }, (_, index) => Buffer.alloc(150_000, `piece ${index}, `));
  const bytes = await readShallow(pieces, null, { bodyBytes: 4_000_000, bodyNesting: 200 });
  assert.ok(bytes.equals(Buffer.concat(pieces)));
  assert.ok(turns >= pieces.length, `${turns}`);
});

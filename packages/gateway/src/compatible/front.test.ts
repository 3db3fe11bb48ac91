/** A body that begins with what is known is read as it would be without a memory: for any spelling of any conversation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { repeatedName } from "../http/read-json.ts";
import { anthropicMessages } from "./anthropic/vendor.ts";
import { frontMemory } from "./front.ts";
import { chainOf } from "./match.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses/vendor.ts";
import type { Vendor } from "./vendor.ts";

const SECRET = Buffer.from("a secret");
const given = (vendor: Vendor<object>, user = "ada") => ({ user, field: vendor.field, shape: vendor.shape });

/** The memory's answer for these bytes, held against what the bytes say; whether a front was known. */
async function check(memory: ReturnType<typeof frontMemory>, vendor: Vendor<object>, bytes: Buffer): Promise<boolean> {
  const reading = await memory.read(bytes, given(vendor));
  const plain = await frontMemory(0).read(bytes, given(vendor));
  const expected = parsed(bytes);
  if (reading === null || plain === null) {
    assert.deepEqual([reading, plain, expected], [null, null, null]);
    return false;
  }
  assert.deepEqual(reading.body, expected);
  assert.equal(await reading.digest(), await plain.digest());
  const read = vendor.read(reading.body, reading.checked);
  assert.deepEqual(read, vendor.read(expected as never, null));
  const twice = await repeatedName(bytes);
  assert.equal(await repeatedName(reading.fresh), twice);
  // A request that is refused for it is not remembered.
  if (read.kind === "request" && twice === null) {
    const { messages } = read.request;
    const chain = chainOf(messages, { shape: vendor.shape, secret: SECRET });
    assert.deepEqual(await reading.chain(read.request, SECRET), chain);
  }
  return reading.checked !== null;
}

function parsed(bytes: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

const WORDS = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom('"]},{"', "\\", '\\"', "messages", "\u{1f600}", "\ud800", "null", ",", ""),
);
/** Node 24 reads a name that is half a surrogate pair as another name of one character, if it has seen such a one. */
const NAMES = WORDS.filter((word) => word.isWellFormed());
const id = fc.constantFrom("a", "b", "c");

const ITEMS: Readonly<Record<string, fc.Arbitrary<object>>> = {
  "openai-chat": fc.oneof(
    fc.record({ role: fc.constantFrom("user", "assistant", "system", "developer"), content: WORDS }),
    fc.record({ role: fc.constant("user"), content: fc.array(fc.record({ type: fc.constant("text"), text: WORDS })) }),
    fc.record({ role: fc.constant("tool"), tool_call_id: id, content: WORDS, messages: WORDS }),
    id.map((one) => ({
      role: "assistant",
      content: null,
      tool_calls: [{ id: one, type: "function", function: { name: "f", arguments: '{"a": 1}' } }],
    })),
  ),
  anthropic: fc.oneof(
    fc.record({ role: fc.constantFrom("user", "assistant"), content: WORDS }),
    fc.record({
      role: fc.constantFrom("user", "assistant"),
      content: fc.array(
        fc.oneof(
          fc.record({ type: fc.constant("text"), text: WORDS, cache_control: fc.constant({ type: "ephemeral" }) }),
          fc.record({ type: fc.constant("thinking"), thinking: WORDS, signature: WORDS }),
          fc.record({ type: fc.constant("tool_use"), id, name: fc.constant("f"), input: fc.dictionary(NAMES, WORDS) }),
          fc.record({ type: fc.constant("tool_result"), tool_use_id: id, content: WORDS }),
        ),
      ),
    }),
  ),
  "openai-responses": fc.oneof(
    fc.record({ role: fc.constantFrom("user", "assistant", "system", "developer"), content: WORDS }),
    fc.record({ type: fc.constant("function_call"), call_id: id, name: fc.constant("f"), arguments: WORDS }),
    fc.record({ type: fc.constant("function_call_output"), call_id: id, output: WORDS }),
    fc.record({ type: fc.constant("reasoning"), id, summary: fc.constant([]) }),
  ),
};

/** How a client writes JSON, and what it does to a message's text on the way. */
const SPELLINGS: readonly ((value: object) => string)[] = [
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(value, null, 2),
  (value) =>
    JSON.stringify(value).replaceAll(
      /[\u0080-\uffff]/g,
      (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
    ),
  (value) => ` ${JSON.stringify(Object.fromEntries(Object.entries(value).reverse()))}\n`,
  // A name twice: the second counts.
  (value) => `{"role":"nobody","content":[],${JSON.stringify(value).slice(1)}`,
];

const STEP = fc.record({
  /** How many of the messages before are taken off, and what comes behind. */
  drop: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, fc.nat(3)),
  spelling: fc.nat(SPELLINGS.length - 1),
  comma: fc.constantFrom(",", " ,", ",\n  ", "\t,\r\n"),
  brackets: fc.constantFrom("[]", "[ ]", "[\n]"),
  system: fc.option(WORDS),
  leading: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(2)),
  form: fc.constantFrom("first", "last", "between", "escaped", "between", "twice", "within"),
  /** A byte that was lost or changed on the way. */
  damage: fc.oneof({ weight: 12, arbitrary: fc.constant(null) }, fc.record({ at: fc.nat(), byte: fc.nat(255) })),
});

type Step = typeof STEP extends fc.Arbitrary<infer T> ? T : never;

function bodyOf(field: string, texts: readonly string[], step: Step): Buffer {
  const { comma, brackets, system, leading, form, damage } = step;
  const heads = Array.from(
    { length: leading },
    (_, index) => `{"role":"system","content":"head ${index} of ${texts.length}"}`,
  );
  const list = `${brackets.slice(0, -1)}${[...heads, ...texts].join(comma)}${brackets.slice(1)}`;
  const named = `${JSON.stringify(field)}: ${list}`;
  const model = '"model":"m"';
  const asked = system === null ? [] : [`"system":${JSON.stringify(system)}`];
  const fields = {
    first: [named, model, ...asked],
    last: [model, ...asked, named],
    between: [model, named, ...asked],
    escaped: [
      model,
      ...asked,
      `"${field.slice(0, -1)}\\u${field
        .charCodeAt(field.length - 1)
        .toString(16)
        .padStart(4, "0")}" :${list}`,
    ],
    twice: [named, model, `${JSON.stringify(field)}:[{"role":"user","content":"the second"}]`],
    within: [model, `"metadata":{${named}}`, named],
  }[form];
  const bytes = Buffer.from(`{${fields.join(" , ")}}`);
  if (damage !== null) bytes[damage.at % bytes.length] = damage.byte;
  return bytes;
}

for (const vendor of [openaiChat, anthropicMessages, openaiResponses] as unknown as Vendor<object>[])
  test(`${vendor.name}: what a body says doesn't depend on what is known of it`, async () => {
    const counts = { bodies: 0, known: 0 };
    const turns = fc.array(fc.tuple(fc.array(ITEMS[vendor.name]!, { minLength: 1, maxLength: 4 }), STEP), {
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(turns, async (steps) => {
        const memory = frontMemory(0);
        const texts: string[] = [];
        for (const [items, step] of steps) {
          texts.splice(texts.length - step.drop, step.drop);
          texts.push(...items.map((item) => SPELLINGS[step.spelling]!(item)));
          const bytes = bodyOf(vendor.field, texts, step);
          counts.bodies += 1;
          if (await check(memory, vendor, bytes)) counts.known += 1;
        }
      }),
      { numRuns: 400 },
    );
    assert.ok(counts.known > counts.bodies / 20, `only ${counts.known} of ${counts.bodies} were known`);
  });

test("a conversation stays known while its system prompt changes, as a field or as a message, and to its user alone", async () => {
  const memory = frontMemory(0);
  const vendor = openaiChat as unknown as Vendor<object>;
  const body = (system: string, turns: number) =>
    Buffer.from(
      JSON.stringify({
        system,
        messages: [
          { role: "system", content: system },
          ...Array.from({ length: turns }, (_, index) => ({ role: "user", content: `turn ${index}` })),
        ],
        model: "m",
      }),
    );
  await check(memory, vendor, body("monday", 3));
  assert.equal(await check(memory, vendor, body("tuesday, later", 5)), true);
  assert.equal((await memory.read(body("monday", 6), given(vendor, "bob")))?.checked, null);
  assert.deepEqual((await memory.read(body("", 6), given(vendor)))?.checked, { from: 1, to: 6 });
});

test("where a conversation is known, an unknown item of many megabytes isn't parsed at once to see what it is", async (t) => {
  const memory = frontMemory(0);
  const vendor = openaiChat as unknown as Vendor<object>;
  const known = [{ role: "user", content: "known" }];
  const body = (messages: readonly object[]) => Buffer.from(JSON.stringify({ model: "m", messages }));
  await check(memory, vendor, body(known));
  const bytes = body([{ role: "user", content: "word ".repeat(1_000_000) }, ...known]);
  const parse = t.mock.method(JSON, "parse");
  await memory.read(bytes, given(vendor));
  const longest = Math.max(0, ...parse.mock.calls.map((call) => String(call.arguments[0]).length));
  assert.ok(longest < 2_500_000, `${longest}`);
});

test("others get their turns while a long conversation is hashed, message by message", async (t) => {
  const vendor = openaiChat as unknown as Vendor<object>;
  const messages = Array.from({ length: 500 }, (_, index) => ({ role: "user", content: `message ${index}` }));
  const reading = await frontMemory(0).read(Buffer.from(JSON.stringify({ model: "m", messages })), given(vendor));
  const read = vendor.read(reading!.body, null);
  assert.ok(read.kind === "request");
  // A clock by which each look at it has lasted long enough.
  let ms = performance.now();
  t.mock.method(performance, "now", () => {
    ms += 10;
    return ms;
  });
  let [turns, isDone] = [0, false];
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await reading!.chain(read.request, SECRET);
  isDone = true;
  assert.ok(turns >= 400, `${turns}`);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readConversations } from "./read-conversations.ts";

const read = (text: string | Buffer) => readConversations(Buffer.from(text));
const bodies = async (text: string) =>
  (await read(text)).conversations.map(({ messages }) => messages.map((m) => m.body));

const hello = '{ "role":"user",  "content":"h\\u00e9llo" }';
const answer = '{"role":"assistant","content":"hi","n":1.0}';

test("a JSON array, an object with messages and JSON lines give the very text of each message", async () => {
  assert.deepEqual(await bodies(`[${hello}, ${answer}]`), [[hello, answer]]);
  assert.deepEqual(await bodies(`{"messages":[ ${hello},${answer} ]}`), [[hello, answer]]);
  assert.deepEqual(await bodies(`${hello}\n${answer}\n`), [[hello, answer]]);
  assert.deepEqual(await bodies(`{"at":"2026-01-01","message": ${hello} }\n{"message":${answer}}`), [[hello, answer]]);
});

test("each line with messages is a conversation of its own, one line is one conversation", async () => {
  assert.deepEqual(await bodies(`{"messages":[${hello}]}\n{"messages":[${answer}]}\n`), [[hello], [answer]]);
  assert.deepEqual(await bodies(`{"messages":[${hello}]}`), [[hello]]);
});

test("a pretty-printed message is put on one line, its strings untouched", async () => {
  const pretty = JSON.stringify({ messages: [{ role: "user", content: "a  b\n{ c" }] }, null, 2);
  assert.deepEqual(await bodies(pretty), [['{"role":"user","content":"a  b\\n{ c"}']]);
});

test("lines without a message are counted as skipped, empty ones are not lines", async () => {
  const { skipped, conversations } = await read(
    `{"event":"compaction"}\n\n${hello}\r\n  \n42\n{"message":"a log line"}\n`,
  );
  assert.equal(skipped, 3);
  assert.equal(conversations[0]?.messages[0]?.body, hello);
});

test("a byte order mark is tolerated", async () => {
  assert.deepEqual(await bodies(`\ufeff[${hello}]`), [[hello]]);
  assert.deepEqual(await bodies(`\ufeff${hello}\n${answer}`), [[hello, answer]]);
});

test("a truncated line, at the start, middle or end, is named", async () => {
  for (const [lines, bad] of [
    [[hello.slice(0, 12), answer, answer], 1],
    [[hello, answer.slice(0, 30), answer], 2],
    [[hello, answer, answer.slice(0, -1)], 3],
  ] as const) {
    const { problems, conversations } = await read(lines.join("\n"));
    assert.equal(problems.length, 1);
    assert.equal(problems[0]!.place, `line ${bad}`);
    assert.match(problems[0]!.message, /not valid JSON/);
    assert.equal(conversations[0]?.messages.length, 2);
  }
});

test("invalid UTF-8 is named with its line and byte, in lines and in one document", async () => {
  const bad = Buffer.concat([
    Buffer.from('{"role":"user","content":"\ufffd'),
    Buffer.from([0xc3, 0x28]),
    Buffer.from('"}'),
  ]);
  const first = Buffer.from(`${hello}\n`);
  const { problems } = await read(Buffer.concat([first, bad, Buffer.from(`\n${answer}`)]));
  assert.deepEqual(problems, [{ place: "line 2", message: "byte 30 is not UTF-8: save the file as UTF-8" }]);
  const document = await read(Buffer.concat([Buffer.from(`[\n${hello},\n`), bad, Buffer.from("]")]));
  assert.equal(document.problems[0]?.place, "line 3");
});

test("single messages and whole conversations in one file are refused", async () => {
  const { problems } = await read(`${hello}\n{"messages":[${answer}]}`);
  assert.match(problems[0]!.message, /holds a whole conversation, line 1 a single message/);
});

test("usage becomes the whole prompt in all four spellings, also when it is zero", async () => {
  const line = (usage: object) => JSON.stringify({ message: { role: "assistant", content: "x" }, usage, model: "m" });
  const { conversations } = await read(
    [
      line({ input: 5, output: 2, cache_read: 100, cache_write: 10 }),
      line({ input_tokens: 5, output_tokens: 2, cache_read_input_tokens: 100, cache_creation_input_tokens: 10 }),
      line({ prompt_tokens: 115, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 100 } }),
      line({ inputTokens: 115, outputTokens: 2, inputTokenDetails: { cacheReadTokens: 100, cacheWriteTokens: 10 } }),
      line({ input: 0, output: 0, cache_read: 0, cache_write: 0 }),
      line({ input: "many" }),
    ].join("\n"),
  );
  assert.deepEqual(
    conversations[0]?.messages.map(
      ({ usage }) => usage && [usage.input, usage.output, usage.cacheRead, usage.cacheWrite],
    ),
    [[115, 2, 100, 10], [115, 2, 100, 10], [115, 2, 100, 0], [115, 2, 100, 10], [0, 0, 0, 0], null],
  );
  assert.equal(conversations[0]?.messages[0]?.model, "m");
});

test("system prompt and tool schemas beside the messages are taken", async () => {
  const { conversations } = await read(`{"system":"Be brief.","tools":[{"name":"x"}],"messages":[${hello}]}`);
  assert.deepEqual(conversations[0]?.request, { system: "Be brief.", tools: [{ name: "x" }] });
});

test("times are read as ISO 8601, seconds or milliseconds", async () => {
  const at = async (value: unknown) =>
    (await read(JSON.stringify({ at: value, message: { role: "user", content: "" } }))).conversations[0]?.messages[0]
      ?.at;
  assert.equal(await at("2026-01-02T03:04:05Z"), "2026-01-02T03:04:05.000Z");
  assert.equal(await at(1_767_323_045), "2026-01-02T03:04:05.000Z");
  assert.equal(await at(1_767_323_045_000), "2026-01-02T03:04:05.000Z");
  assert.equal(await at("yesterday"), null);
});

for (const name of ["timestamp", "created_at", "createdAt", "create_time"])
  test(`a message's time is read from ${name}, beside it or in it`, async () => {
    const at = "2026-01-02T03:04:05Z";
    const said = { role: "user", content: "hi" };
    for (const line of [{ ...said, [name]: at }, { [name]: at, message: said }, { message: { ...said, [name]: at } }]) {
      const { conversations } = await read(JSON.stringify(line));
      assert.equal(conversations[0]?.messages[0]?.at, "2026-01-02T03:04:05.000Z", JSON.stringify(line));
    }
    const { conversations } = await read(JSON.stringify({ messages: [{ ...said, [name]: at }] }));
    assert.equal(conversations[0]?.messages[0]?.at, "2026-01-02T03:04:05.000Z");
  });

test("any bytes at all give conversations or problems, never a throw", async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
    fc.string({ unit: fc.constantFrom(...'{}[]":,\\nrole1 \n\ufeff') }).map((text) => Buffer.from(text)),
    fc.json().map((text) => Buffer.from(`${hello}\n${text}`)),
  );
  await fc.assert(
    fc.asyncProperty(bytes, async (file) => {
      const { conversations } = await readConversations(file);
      for (const { body } of conversations.flatMap(({ messages }) => messages)) {
        assert.equal(typeof JSON.parse(body), "object");
        assert.doesNotMatch(body, /[\n\r]/);
      }
    }),
  );
});
